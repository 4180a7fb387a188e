import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EXCHANGE } from './stage/exchange-folder.ts'

const run = promisify(execFile)

/** The longest time for walking a tree. A tree that takes longer is not measured. */
const TIMEOUT_MS = 120_000
const LOWEST_NICE = 19
/** Folders of a site directory in which Stead stages replacements for the site's files and its database. */
const BESIDE: readonly string[] = [EXCHANGE, 'database']
/**
 * PHP's default priority. At the lowest, it would wait for all PHP that is running, and a start of PHP would wait for
 * it.
 */
const AWAITED_NICE = 10
/** The ways in which `du` counts: by blocks, and by the lengths of files. */
const BLOCKS: readonly string[] = []
const LENGTHS: readonly string[] = ['--apparent-size']

/** The disk space that a tree takes. */
export interface DiskUsage {
  /** The space of its blocks, or the lengths of its files if that is more: see {@link diskUsages}. */
  readonly bytes: number
  /** Files and folders. 0 if the system's `du` does not count them. */
  readonly files: number
}

/**
 * Measures a whole site directory like {@link diskUsages}, with the number of its files and folders. Leaves out what is
 * staged in it for a change.
 * @param options.isAwaited whether a start of PHP waits for the result
 */
export async function measureTree(directory: string, { isAwaited = false } = {}): Promise<DiskUsage> {
  const parts = await partsOf(directory)
  if (parts.length === 0) return { bytes: 0, files: 0 }
  const nice = isAwaited ? AWAITED_NICE : LOWEST_NICE
  const [[bytes = []], files] = await Promise.all([
    diskUsages([directory], parts, nice),
    du(directory, ['-sx', '--inodes', '--', ...parts], nice).then(
      (text) => text.split('\n').map((line) => Number(line.split('\t')[0]) || 0),
      () => [],
    ),
  ])
  return { bytes: sum(bytes), files: sum(files) }
}

/**
 * Measures like {@link measureTree}, but in blocks only: the space that the site really takes on the disk. The
 * difference tells how much of a length is holes.
 */
export async function blocksOfTree(directory: string): Promise<number> {
  const [bytes = []] = await usages([directory], await partsOf(directory), [BLOCKS], LOWEST_NICE)
  return sum(bytes)
}

const partsOf = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => !BESIDE.includes(name))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/**
 * Returns the disk space that folders take with all their content, from the system's `du` at a low priority. It follows
 * no link, stays on one file system, and counts a hard link once. No depth or number of files makes it fail. Several
 * site directories are measured at once, because starting `du` takes longer than walking a small site. If site
 * directories share a hard link, it counts for the first only.
 *
 * A folder counts by its blocks, or by the lengths of its files if that is more, as PHP counts what it writes
 * (`disk-quota.ts`). A file with a hole has few blocks, but visitors download, and backups read, its whole length.
 * @returns bytes by site directory and folder; a missing folder has none
 * @throws when `du` takes too long
 */
export const diskUsages = (
  siteDirectories: readonly string[],
  folders: readonly string[],
  nice = LOWEST_NICE,
): Promise<number[][]> => usages(siteDirectories, folders, [BLOCKS, LENGTHS], nice)

/** @param ways the ways of counting, of which the larger result counts */
async function usages(
  siteDirectories: readonly string[],
  folders: readonly string[],
  ways: readonly (readonly string[])[],
  nice: number,
): Promise<number[][]> {
  const places = siteDirectories.map((directory) => folders.map((folder) => join(directory, folder)))
  // Without paths, `du` would walk its working directory.
  if (places.flat().length === 0) return places.map(() => [])
  const outputs = await Promise.all(ways.map((counted) => du('/', ['-skx0', ...counted, '--', ...places.flat()], nice)))
  const found = new Map<string, number>()
  for (const line of outputs.join('').split('\0')) {
    const tab = line.indexOf('\t')
    if (tab <= 0) continue
    const place = line.slice(tab + 1)
    found.set(place, Math.max(found.get(place) ?? 0, Number(line.slice(0, tab)) * 1024))
  }
  return places.map((each) => each.map((place) => found.get(place) ?? 0))
}

async function du(directory: string, words: readonly string[], nice: number): Promise<string> {
  const options = { cwd: directory, timeout: TIMEOUT_MS, maxBuffer: 1 << 20 }
  const { stdout } = await run('nice', ['-n', String(nice), 'du', ...words], options).catch(
    // `du` exits with 1 when a file vanished during the walk, or a folder is missing. Its output is still valid.
    (error: Error & { stdout?: string; killed?: boolean; code?: unknown }) => {
      if (error.killed || typeof error.code !== 'number') throw error
      return { stdout: error.stdout ?? '' }
    },
  )
  return stdout
}
