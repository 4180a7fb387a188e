import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'

const run = promisify(execFile)

const SETPRIV = '/usr/bin/setpriv'

/** It ends with this process, however that ends: what starts then finds nobody who still writes into a home. */
const endsWithUs = existsSync(SETPRIV) ? [SETPRIV, '--pdeathsig', 'KILL', '--'] : []

/** What `cp` says, in English, where there is no room. */
const FULL = /No space left on device|Disk quota exceeded/

/**
 * Copies folders into one that is there, by the system's `cp`: Node's own takes ten times the processor's time for a template's 400 files. Times
 * stay, which keeps PHP's opcache warm when a process is moved; blocks are shared where the file system can.
 * @throws ENOSPC
 */
export async function copyInto(folder: string, sources: readonly string[]): Promise<void> {
  const words = ['LC_ALL=C', ...endsWithUs, 'cp', '-a', '--', ...sources, folder]
  await run('env', words, { maxBuffer: 1 << 20 }).catch((error) => {
    const said = String(error.stderr ?? '').slice(0, 1000)
    throw FULL.test(said) ? Object.assign(new Error(said), { code: 'ENOSPC' }) : error
  })
}
