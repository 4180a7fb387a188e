import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { lchown, link, lstat, mkdir, open, rename, rm, unlink } from 'node:fs/promises'
import { inFolder } from '../open-inside.ts'

/** A place for one file of Stead among a site's own, below its web root. */
export interface FilePlace {
  readonly siteDirectory: string
  readonly uid: number | null
  /** Below the web root. Created when missing. */
  readonly folder: string
  readonly name: string
}

/** `other`: a folder, a link, or a file that is too long. */
export type FoundFile =
  | { readonly kind: 'nothing' | 'other' }
  | { readonly kind: 'file'; readonly sha256: string; readonly sizeBytes: number }

/** @param mostBytes the longest file that is read */
export async function lookAtFile({ siteDirectory, folder, name }: FilePlace, mostBytes: number): Promise<FoundFile> {
  const found = await inFolder(siteDirectory, `web/${folder}`, async (path): Promise<FoundFile> => {
    const stats = await statsOf(`${path}/${name}`)
    if (!stats) return { kind: 'nothing' }
    if (!stats.isFile() || stats.size > mostBytes) return { kind: 'other' }
    const content = await read(`${path}/${name}`, mostBytes)
    if (!content) return { kind: 'other' }
    return { kind: 'file', sha256: createHash('sha256').update(content).digest('hex'), sizeBytes: content.length }
  })
  return found ?? { kind: 'nothing' }
}

/**
 * Puts a file in its place, completely or not at all.
 * @param replaces whether to replace an existing entry; otherwise nothing may be there
 * @returns false when a link or something else is in place of the folder, or an entry appeared in between
 */
export async function putFile(
  place: FilePlace,
  content: Uint8Array,
  { replaces }: { replaces: boolean },
): Promise<boolean> {
  const { siteDirectory, uid, folder, name } = place
  await makeFolder(place)
  // A place out of the site's reach, on the same file system. The next call replaces it if this process dies.
  const temporary = `${siteDirectory}/laid-file`
  await rm(temporary, { force: true })
  const put = await inFolder(siteDirectory, `web/${folder}`, async (path) => {
    const before = await statsOf(`${path}/${name}`)
    const handle = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o640)
    try {
      await handle.writeFile(content)
      if (uid !== null) await handle.chown(uid, uid)
      // PHP recognises a changed file by its time, in seconds.
      const seconds = Math.floor(Math.max(Date.now(), before ? before.mtimeMs + 1000 : 0) / 1000)
      await handle.utimes(seconds, seconds)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return replaces ? rename(temporary, `${path}/${name}`).then(() => true) : linked(temporary, `${path}/${name}`)
  }).finally(() => rm(temporary, { force: true }))
  return put ?? false
}

/** @returns whether there was one */
export async function removeFile({ siteDirectory, folder, name }: FilePlace): Promise<boolean> {
  const removed = await inFolder(siteDirectory, `web/${folder}`, async (path) => {
    await unlink(`${path}/${name}`)
    return true
  }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return false
  })
  return removed ?? false
}

/** Creates the folders one by one, each below an open parent. */
async function makeFolder({ siteDirectory, uid, folder }: FilePlace): Promise<void> {
  const parts = folder.split('/')
  for (const [index, part] of parts.entries())
    await inFolder(siteDirectory, ['web', ...parts.slice(0, index)].join('/'), async (path) => {
      try {
        await mkdir(`${path}/${part}`, 0o750)
        if (uid !== null) await lchown(`${path}/${part}`, uid, uid)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
      }
    })
}

/** Adds a second name. Unlike a rename, this cannot replace an entry that appeared in the meantime. */
async function linked(temporary: string, place: string): Promise<boolean> {
  try {
    await link(temporary, place)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** @returns undefined when it is no longer a file, or is longer */
async function read(path: string, mostBytes: number): Promise<Buffer | undefined> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error) => {
    if (['ELOOP', 'ENOENT', 'ENXIO', 'EACCES'].includes(error.code)) return undefined
    throw error
  })
  if (!handle) return undefined
  try {
    const stats = await handle.stat()
    if (!stats.isFile() || stats.size > mostBytes) return undefined
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size), 0, stats.size, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await handle.close()
  }
}
