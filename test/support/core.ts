import { access } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Folder with an unpacked WordPress core for tests, or undefined when this machine has none.
 * To be replaced by a fetch through src/hosting/core-library once that exists; until then, what lies in the temporary folder.
 */
export async function testCore(): Promise<string | undefined> {
  const folder = join(tmpdir(), 'wp-core')
  return access(join(folder, 'wp-includes/version.php')).then(
    () => folder,
    () => undefined,
  )
}
