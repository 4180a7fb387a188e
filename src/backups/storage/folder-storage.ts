import { mkdir, open, readdir, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { writeFileDurably, writeFileOnce } from '../../platform/files/write-file.ts'
import { StorageFailure } from '../backup-store.ts'
import { type ByteRange, type Storage, StorageRefusal, type StoredObject } from './storage.ts'

export interface FolderOptions {
  readonly folder: string
  /** Disk space reserved for other data. A backup that would use it is refused. None by default. */
  readonly keptBytes?: number
}

/** Stores objects as files of a folder that only Stead's user can read. */
export function folderStorage({ folder, keptBytes = 0 }: FolderOptions): Storage {
  const pathOf = (name: string) => join(folder, name)
  const makeWay = async (name: string, bytes: number) => {
    await mkdir(dirname(pathOf(name)), { recursive: true, mode: 0o700 })
    const { bavail, bsize } = await statfs(folder)
    if (bavail * bsize < keptBytes + bytes) throw new StorageRefusal(`The disk of ${folder} is full.`)
  }
  return {
    where: folder,
    put: (name, bytes, signal) =>
      saying(folder, async () => {
        await makeWay(name, bytes.length)
        await writeFileDurably(pathOf(name), bufferOf(bytes), 0o600, signal)
      }),
    putOnce: (name, bytes) =>
      saying(folder, async () => {
        await makeWay(name, bytes.length)
        return writeFileOnce(pathOf(name), bufferOf(bytes), 0o600)
      }),
    get: (name, range) => saying(folder, () => readRange(pathOf(name), range)),
    list: (prefix) => saying(folder, () => listBelow(folder, prefix)),
    folders: () =>
      saying(folder, async () => {
        const entries = await readdir(folder, { withFileTypes: true }).catch(none)
        return entries.filter((each) => each.isDirectory()).map(({ name }) => name)
      }),
    remove: (names) =>
      saying(folder, async () => {
        for (const name of names) await rm(pathOf(name), { force: true })
        // Remove empty folders too, inner ones first.
        const folders = new Set(names.flatMap((name) => [dirname(name), dirname(dirname(name))]))
        for (const each of [...folders].sort().reverse()) if (each !== '.') await rmdir(pathOf(each)).catch(() => {})
      }),
  }
}

const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

function none(error: NodeJS.ErrnoException): [] {
  if (error.code !== 'ENOENT' && error.code !== 'ENOTDIR') throw error
  return []
}

async function readRange(path: string, { start, length }: ByteRange = { start: 0 }): Promise<Buffer | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!file) return undefined
  try {
    const { size } = await file.stat()
    const from = Math.min(size, start)
    const bytes = Buffer.allocUnsafeSlow(Math.min(length ?? size, size - from))
    let read = 0
    while (read < bytes.length) {
      const { bytesRead } = await file.read(bytes, read, bytes.length - read, from + read)
      if (bytesRead === 0) break
      read += bytesRead
    }
    return bytes.subarray(0, read)
  } finally {
    await file.close()
  }
}

/** A write takes at most minutes, on any machine that shares the folder. */
const LEFT_MS = 86_400_000

/** @throws nothing, because a later list removes the rest */
async function removeIfLeft(path: string): Promise<void> {
  const facts = await stat(path).catch(() => undefined)
  if (facts && Date.now() - facts.mtimeMs > LEFT_MS) await rm(path, { force: true }).catch(() => {})
}

/** Lists objects, and removes temporary files of killed writers on the way, because a pack takes 16 MB. */
async function listBelow(folder: string, prefix: string): Promise<StoredObject[]> {
  const entries = await readdir(join(folder, prefix), { withFileTypes: true, recursive: true }).catch(none)
  const found: StoredObject[] = []
  for (const entry of entries) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    // This file is being written, or was when its writer died.
    if (entry.name.endsWith('.tmp')) {
      await removeIfLeft(path)
      continue
    }
    const facts = await stat(path).catch(() => undefined)
    if (facts)
      found.push({ name: path.slice(folder.length + 1), sizeBytes: facts.size, modifiedAt: Math.round(facts.mtimeMs) })
  }
  return found
}

/** Turns every error of the file system into one of the storage, which names the folder. */
async function saying<Result>(folder: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof StorageFailure) throw error
    const { code, message } = error as NodeJS.ErrnoException
    const isFull = code === 'ENOSPC' || code === 'EDQUOT'
    if (isFull) throw new StorageRefusal(`The disk of ${folder} is full.`, { cause: error })
    throw new StorageFailure(`${folder}: ${message}`, { cause: error })
  }
}
