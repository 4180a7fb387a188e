import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { EXCHANGE } from './exchange-folder.ts'

const run = promisify(execFile)

/** A tree that takes longer to walk is not measured. */
const TIMEOUT_MS = 120_000

/** What a tree takes on the disk. */
export interface DiskUsage {
  readonly bytes: number
  /** Files and folders; 0 where the system's `du` does not count them. */
  readonly files: number
}

/** As {@link diskUsage}, of a site's whole home, with the number of its files and folders; without what is laid beside it for a change. */
export async function measureTree(home: string): Promise<DiskUsage> {
  const parts = (await readdir(home)).filter((name) => name !== EXCHANGE)
  if (parts.length === 0) return { bytes: 0, files: 0 }
  const [bytes, files] = await Promise.all([
    diskUsage(home, parts),
    du(home, ['-sx', '--inodes', '--', ...parts]).then(
      (text) => text.split('\n').map((line) => Number(line.split('\t')[0]) || 0),
      () => [],
    ),
  ])
  return { bytes: sum(bytes), files: sum(files) }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

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
