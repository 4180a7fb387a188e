/**
 * Removes a folder of a site with everything in it, whatever the site has put there.
 *
 * A site's PHP decides what is in its folder. Trees can be deeper than the longest path, with mkdir and chdir, or by
 * moving deep trees into each other. Folders can lack permissions, names can be invalid text, and links can lead to the
 * machine's own files. So nothing here uses a full path: it opens each folder itself and reaches its entries through
 * the descriptor. It moves a folder with content to the top and empties it later. So two descriptors are enough for any
 * depth, and an interrupted removal continues where it stopped.
 */
import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, open, opendir, rename, rm, rmdir, unlink } from 'node:fs/promises'

/** Linux's `O_PATH`. It opens the entry itself, needs no permission on it, and starts nothing. */
const O_PATH = 0o10000000
const FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW
const FULL_RIGHTS = 0o700

/** The number of names that are read, and removed in parallel, before the next are read. */
const BATCH = 64
/** The number of rounds in a row that remove nothing from a folder with content, before it gives up. */
const MOST_ROUNDS = 100

/**
 * An entry could not be removed. The text states the kind of error but no path, because the owner of a site may read
 * it.
 */
export class CannotRemove extends Error {
  override readonly name = 'CannotRemove'
}

/**
 * Removes the entry at `path`. Removes links and never follows them. A missing entry is not an error.
 * @param path in a folder that only Stead changes
 * @throws CannotRemove when the system refuses it, or a process keeps writing there
 */
export async function removeTree(path: string): Promise<void> {
  try {
    if (process.platform === 'linux') await removeEntry(path)
    else await rm(path, { recursive: true, force: true })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CannotRemove(`Files could not be removed (${code ?? 'unknown error'})`, { cause: error })
  }
}

async function removeEntry(path: string): Promise<void> {
  const stats = await lstat(path).catch(ifGone)
  if (!stats) return
  if (!stats.isDirectory()) return unlink(path).catch(ifGone)
  const top = await openFolder(path)
  if (!top) return removeEntry(path)
  try {
    for (let round = 0; ; round++) {
      await emptyTop(top)
      if (await rmdir(path).then(yes, isFull)) return
      // A process added an entry at this very moment.
      if (round === MOST_ROUNDS) throw goesOnWriting()
    }
  } finally {
    await top.close()
  }
}

const goesOnWriting = () => Object.assign(new Error('something keeps writing'), { code: 'ENOTEMPTY' })

/**
 * Empties the folder in rounds, because folders from below arrive in the meantime. A round that finds nothing is the
 * last.
 */
async function emptyTop(top: FileHandle): Promise<void> {
  const counter = { next: 0 }
  for (let idle = 0; ; ) {
    const found = await empty(top, async (entry) => {
      const folder = await openFolder(entry)
      if (!folder) return
      try {
        await empty(folder, (below) => moveUp(below, top, counter))
      } finally {
        await folder.close()
      }
      await rmdir(entry).then(yes, isFull)
    })
    if (found.all === 0) return
    // Deep trees need a round for each level, and each round removes folders.
    idle = found.removed > 0 ? 0 : idle + 1
    if (idle > MOST_ROUNDS) throw goesOnWriting()
  }
}

/** Unlinks everything except folders, and passes every folder to `onFolder`. */
async function empty(
  folder: FileHandle,
  onFolder: (entry: Buffer) => Promise<void>,
): Promise<{ all: number; removed: number }> {
  const counts = { all: 0, removed: 0 }
  let batch: Buffer[] = []
  const work = async () => {
    const done = batch.map(async (entry) => {
      if (await unlinkUnlessFolder(entry)) counts.removed++
      else if (await rmdir(entry).then(yes, isFull)) counts.removed++
      else return entry
      return undefined
    })
    batch = []
    // One at a time, so that two descriptors are enough for any content.
    for (const entry of await Promise.all(done)) {
      if (!entry) continue
      await onFolder(entry)
      if (!(await lstat(entry).catch(ifGone))) counts.removed++
    }
  }
  // The types are those that Dirent has for text, but the names are bytes.
  const entries = await opendir(pathOf(folder), { encoding: 'buffer' as 'utf8', bufferSize: BATCH })
  for await (const { name } of entries) {
    counts.all++
    batch.push(inside(folder, name as unknown as Buffer))
    if (batch.length === BATCH) await work()
  }
  await work()
  return counts
}

const yes = () => true

/**
 * @returns false for a folder that is not empty, or whose content cannot be read
 * @throws any other error
 */
function isFull(error: NodeJS.ErrnoException): boolean {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return true
  if (error.code === 'ENOTEMPTY' || error.code === 'EEXIST') return false
  throw error
}

/** @returns false for a folder */
async function unlinkUnlessFolder(entry: Buffer): Promise<boolean> {
  try {
    await unlink(entry)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EISDIR') return false
    if (code !== 'ENOENT') throw error
  }
  return true
}

/**
 * Moves a folder to the top under a new name. This needs write permission on the folder itself, because its `..`
 * changes.
 */
async function moveUp(entry: Buffer, top: FileHandle, counter: { next: number }): Promise<void> {
  const folder = await openFolder(entry)
  if (!folder) return
  await folder.close()
  for (;;) {
    const name = inside(top, Buffer.from(`moved-${counter.next++}`))
    // The site, or an interrupted removal, took the name.
    if (await lstat(name).catch(ifGone)) continue
    return rename(entry, name).catch(ifNotEmpty)
  }
}

/**
 * Opens a folder with the permission to list and change it.
 * @returns undefined when it is gone by now
 */
async function openFolder(path: string | Buffer): Promise<FileHandle | undefined> {
  const pinned = await open(path, FOLDER | O_PATH).catch(ifNoFolder)
  if (!pinned) return undefined
  try {
    const { mode } = await pinned.stat()
    // Changes the folder that was checked, whatever is at the path by now.
    if ((mode & FULL_RIGHTS) !== FULL_RIGHTS) await chmod(pathOf(pinned), FULL_RIGHTS)
    return await open(pathOf(pinned), constants.O_RDONLY | constants.O_DIRECTORY)
  } finally {
    await pinned.close()
  }
}

const pathOf = (folder: FileHandle): string => `/proc/self/fd/${folder.fd}`

const inside = (folder: FileHandle, name: Buffer): Buffer => Buffer.concat([Buffer.from(`${pathOf(folder)}/`), name])

function ifGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}

function ifNoFolder(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR' && error.code !== 'ELOOP') throw error
}

function ifNotEmpty(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST' && error.code !== 'ENOENT') throw error
}
