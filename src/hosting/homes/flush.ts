import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Some hundred small files reach the disk with one call (syncfs) instead of one each. */
export async function flushFileSystem(path: string): Promise<void> {
  await run('sync', ['-f', path]).catch(() => {})
}
