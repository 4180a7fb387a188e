import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A tree that takes longer to walk is not measured. */
const TIMEOUT_MS = 120_000

/** What a tree takes on the disk. */
export interface DiskUsage {
  readonly bytes: number
  /** Files and folders; 0 where the system's `du` does not count them. */
  readonly files: number
}

/** As {@link diskUsage}, of one whole tree, with the number of its files and folders. */
export async function measureTree(path: string): Promise<DiskUsage> {
  const [[bytes = 0], files] = await Promise.all([
    diskUsage(path, ['.']),
    du(path, ['-sx', '--inodes', '--', '.']).then(
      (text) => Number(text.split('\t')[0]) || 0,
      () => 0,
    ),
  ])
  return { bytes, files }
}

/**
 * Room that folders take on the disk, with all in them, by the system's `du` at the lowest priority: it follows no link, stays on
 * one file system, counts a hard link once, and no depth or number of files makes it fail.
 * @returns bytes by folder; a folder that is not there has none
 * @throws when `du` takes too long
 */
export async function diskUsage(home: string, folders: readonly string[]): Promise<number[]> {
  const stdout = await du(home, ['-skx', '--', ...folders])
  const found = new Map(stdout.split('\n').map((line) => line.split('\t').reverse() as [string, string]))
  return folders.map((folder) => Number(found.get(folder) ?? 0) * 1024)
}

async function du(home: string, words: readonly string[]): Promise<string> {
  const options = { cwd: home, timeout: TIMEOUT_MS, maxBuffer: 1 << 20 }
  const { stdout } = await run('nice', ['-n', '19', 'du', ...words], options).catch(
    // du ends with 1 when a file vanished under it, or a folder is missing; what it printed holds all the same
    (error: Error & { stdout?: string; killed?: boolean; code?: unknown }) => {
      if (error.killed || typeof error.code !== 'number') throw error
      return { stdout: error.stdout ?? '' }
    },
  )
  return stdout
}
