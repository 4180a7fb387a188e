import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { phpVersions } from '../../src/hosting/php/runtime.ts'
import { type Stead, until } from '../../test/support/stead.ts'

/** Waits until a new Stead has built its compiled-code cache of each PHP in the background. */
export async function untilCodeIsKept(stead: Stead): Promise<void> {
  await until('the code of PHP is kept', () => kept(stead).length === phpVersions.length, 600_000)
}

function kept({ dataDir }: Stead): string[] {
  try {
    return readdirSync(join(dataDir, 'php-code')).filter((name) => !name.endsWith('.tmp'))
  } catch {
    return []
  }
}
