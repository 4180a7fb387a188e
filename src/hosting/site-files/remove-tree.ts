/**
 * Removes a folder of a site with all in it, whatever the site has made of it.
 *
 * A site's PHP decides what lies in its folder: trees that are deeper than a path may be long (made with mkdir and chdir, or by
 * moving deep trees into each other), folders that nobody may enter, names that are no text, a million files, links to the
 * machine's own files. So nothing here has a path: each folder is opened for itself and its entries are reached through its
 * descriptor. A folder that is not empty is moved up to the top before its turn comes, so that two descriptors are enough for
 * any depth, and a removal that was cut off goes on where it was.
 */
import { constants } from 'node:fs'
import { chmod, type FileHandle, lstat, open, opendir, rename, rm, rmdir, unlink } from 'node:fs/promises'

/** `O_PATH` of Linux: opens the thing itself, without any right on it, and starts nothing. */
const O_PATH = 0o10000000
const FOLDER = constants.O_DIRECTORY | constants.O_NOFOLLOW
const FULL_RIGHTS = 0o700

/** Names that are read, and removed side by side, before the next are read. */
const BATCH = 64
/** Rounds in which nothing could be removed, though something was there, before it is given up. */
const MOST_ROUNDS = 100

/** Something could not be removed. Says which kind of error it was, and no path: its text may reach the owner of a site. */
export class CannotRemove extends Error {
  override readonly name = 'CannotRemove'
}

/**
 * Removes what lies at `path`; links are removed and never followed. Nothing there is no fault.
 * @param path in a folder that only Stead changes
 * @throws CannotRemove when the system refuses it, or something goes on writing there
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
      // something was put there in this very moment
      if (round === MOST_ROUNDS) throw goesOnWriting()
    }
  } finally {
    await top.close()
  }
}

const goesOnWriting = () => Object.assign(new Error('something goes on writing'), { code: 'ENOTEMPTY' })

/** Empties round after round: folders from below come up meanwhile. A round that finds nothing is the last. */
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
    // deep trees need a round for each level, and each takes folders away
    idle = found.removed > 0 ? 0 : idle + 1
    if (idle > MOST_ROUNDS) throw goesOnWriting()
  }
}

/** Unlinks what is no folder and hands every folder to `onFolder`. */
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
    // one at a time: two descriptors, whatever lies there
    for (const entry of await Promise.all(done)) {
      if (!entry) continue
      await onFolder(entry)
      if (!(await lstat(entry).catch(ifGone))) counts.removed++
    }
  }
  // the types are as Dirent has them for text; names are bytes
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

/** @returns false for a folder that is not empty, or that does not let its content be seen. @throws any other error */
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

/** Moves a folder to the top under a new name. Its own right to be written to is needed for that: its `..` changes. */
async function moveUp(entry: Buffer, top: FileHandle, counter: { next: number }): Promise<void> {
  const folder = await openFolder(entry)
  if (!folder) return
  await folder.close()
  for (;;) {
    const name = inside(top, Buffer.from(`moved-${counter.next++}`))
    // taken by the site, or by a removal that was cut off
    if (await lstat(name).catch(ifGone)) continue
    return rename(entry, name).catch(ifNotEmpty)
  }
}

/** Opens a folder with the right to list and change it. @returns undefined when there is none by now */
async function openFolder(path: string | Buffer): Promise<FileHandle | undefined> {
  const pinned = await open(path, FOLDER | O_PATH).catch(ifNoFolder)
  if (!pinned) return undefined
  try {
    const { mode } = await pinned.stat()
    // the very folder that was looked at, not what lies there by now
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
