import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { EXCHANGE } from './stage/exchange-folder.ts'

const run = promisify(execFile)

/** A tree that takes longer to walk is not measured. */
const TIMEOUT_MS = 120_000
const LOWEST_NICE = 19
/** Folders of a site directory in which Stead lays out what may come in place of the site's files and its database. */
const BESIDE: readonly string[] = [EXCHANGE, 'database']
/** As PHP has by default: at the lowest it would wait for all PHP that is at work, and a start for it. */
const AWAITED_NICE = 10
/** Ways in which `du` counts: by blocks, and by the lengths of files. */
const BLOCKS: readonly string[] = []
const LENGTHS: readonly string[] = ['--apparent-size']

/** What a tree takes on the disk. */
export interface DiskUsage {
  /** Its blocks, or the lengths of its files if that is more: see {@link diskUsages}. */
  readonly bytes: number
  /** Files and folders; 0 where the system's `du` does not count them. */
  readonly files: number
}

/**
 * As {@link diskUsages}, of a whole site directory, with the number of its files and folders; without what is laid beside it for a change.
 * @param options.isAwaited a start of PHP waits for it
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

/** As {@link measureTree}, in blocks alone: what the site really takes of the disk, so that the length of a hole can be told from it. */
export async function blocksOfTree(directory: string): Promise<number> {
  const [bytes = []] = await usages([directory], await partsOf(directory), [BLOCKS], LOWEST_NICE)
  return sum(bytes)
}

const partsOf = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => !BESIDE.includes(name))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

/**
 * Returns the space that folders take on the disk, with all in them, by the system's `du` at a low priority: it follows no link, stays on
 * one file system, counts a hard link once, and no depth or number of files makes it fail. The same folders in several site directories at once:
 * starting `du` takes longer than walking a small site. What one site directory has a hard link to in another counts for the first alone.
 *
 * A folder counts with its blocks, or with the lengths of its files if that is more, as PHP counts what it writes (`disk-quota.ts`). A file with
 * a hole has few blocks, but visitors download, and backups read, its whole length.
 * @returns bytes by site directory and folder; a folder that is not there has none
 * @throws when `du` takes too long
 */
export const diskUsages = (
  siteDirectories: readonly string[],
  folders: readonly string[],
  nice = LOWEST_NICE,
): Promise<number[][]> => usages(siteDirectories, folders, [BLOCKS, LENGTHS], nice)

/** @param ways of counting: the one that gives more decides */
async function usages(
  siteDirectories: readonly string[],
  folders: readonly string[],
  ways: readonly (readonly string[])[],
  nice: number,
): Promise<number[][]> {
  const places = siteDirectories.map((directory) => folders.map((folder) => join(directory, folder)))
  // asked about nothing, `du` would walk the folder that it is in
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
    // du ends with 1 when a file vanished under it, or a folder is missing; what it printed holds all the same
    (error: Error & { stdout?: string; killed?: boolean; code?: unknown }) => {
      if (error.killed || typeof error.code !== 'number') throw error
      return { stdout: error.stdout ?? '' }
    },
  )
  return stdout
}
