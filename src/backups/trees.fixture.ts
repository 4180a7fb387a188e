import { createHash } from 'node:crypto'
import type { BackupRepository, SourceEntry } from './backup-store.ts'
import type { Storage } from './storage/storage.ts'

/** The files of a test's tree, by path. */
export type Files = Readonly<Record<string, Buffer>>

/**
 * Yields files as the walk of a site does.
 * @param read receives the paths of opened files
 */
export async function* source(files: Files, read: string[] = []): AsyncGenerator<SourceEntry> {
  for (const [path, content] of Object.entries(files))
    yield {
      kind: 'file',
      path,
      mode: 0o644,
      mtimeMs: 2,
      sizeBytes: content.length,
      stamp: hash(content),
      open: async () => {
        read.push(path)
        return pieces(content)
      },
    }
}

export async function* pieces(content: Buffer, bytes = 65_536): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += bytes) yield content.subarray(at, at + bytes)
}

export async function all(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = []
  for await (const piece of content) parts.push(piece)
  return Buffer.concat(parts)
}

export const hash = (content: Buffer): string => createHash('sha256').update(content).digest('hex')
export const hashes = (files: Files): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [path, hash(content)]))

/** Returns the files that are read back of a tree, as hashes. */
export async function contentsOf(repository: BackupRepository, name: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for await (const entry of repository.entries(name))
    if (entry.kind === 'file') found[entry.path] = hash(await all(repository.readFile(entry)))
  return found
}

/** Returns incompressible bytes that depend only on the seed. */
export function noise(bytes: number, seed = 1): Buffer {
  const content = Buffer.alloc(bytes)
  let state = Math.imul(seed, 2_654_435_761) | 1
  for (let at = 0; at < bytes; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    content[at] = state >>> 24
  }
  return content
}

/** Simulates a killed process, which does nothing further. */
export class Killed extends Error {}

/** Lets a test stop the process before or after the next changes. */
export interface Guillotine {
  readonly storage: Storage
  /** Falls after this many changes. With .5, the next one also reaches the storage. `undefined` means never. */
  fallAfter: number | undefined
}

/** Returns a storage that dies at any point, and stays dead until it is reset. */
export function guillotine(base: Storage): Guillotine {
  const own: { fallAfter: number | undefined } = { fallAfter: undefined }
  const change = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (own.fallAfter === undefined) return work()
    own.fallAfter -= 0.5
    if (own.fallAfter < 0) throw new Killed('before it')
    const result = await work()
    own.fallAfter -= 0.5
    if (own.fallAfter < 0) throw new Killed('after it')
    return result
  }
  const look = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (own.fallAfter !== undefined && own.fallAfter < 0) throw new Killed('dead')
    return work()
  }
  const storage: Storage = {
    where: base.where,
    put: (...call) => change(() => base.put(...call)),
    putOnce: (...call) => change(() => base.putOnce(...call)),
    get: (...call) => look(() => base.get(...call)),
    list: (...call) => look(() => base.list(...call)),
    folders: () => look(() => base.folders()),
    // One by one, because it may be interrupted between two.
    async remove(names) {
      for (const name of names) await change(() => base.remove([name]))
    },
  }
  return Object.assign(own, { storage })
}
