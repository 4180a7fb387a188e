import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Budget } from '../../../platform/budgets/budget.ts'
import { isAlive } from '../../../platform/is-alive.ts'
import { isConcerned } from '../decide/cache-key.ts'
import { IDENTITY } from './encodings.ts'
import { type Bodiless, type Entry, withBody, withoutBodies } from './entry.ts'
import { type Variant, Variants } from './variants.ts'

/** The second tier: bodies of entries that did not fit in memory. Their metadata stays in memory. */
export interface Disk {
  /** Stores an entry that was used. Drops it when too much is being written already. */
  keep(entry: Entry): void
  has(key: string): boolean
  /** Takes a complete entry out. Resolves with undefined when it is gone. */
  take(key: string): Promise<Entry | undefined>
  forget(key: string): void
  /** Drops everything stored for an address, with all its variants. */
  forgetAddress(address: string): void
  purge(siteId: number, patterns: readonly string[]): void
  clear(): void
  close(): Promise<void>
  readonly bytes: number
  readonly count: number
  /** The memory that the index takes. */
  readonly indexBytes: number
}

/** For processes without a disk tier. */
export const noDisk: Disk = {
  keep() {},
  has: () => false,
  take: async () => undefined,
  forget() {},
  forgetAddress() {},
  purge() {},
  clear() {},
  close: async () => {},
  bytes: 0,
  count: 0,
  indexBytes: 0,
}

interface Kept extends Variant {
  readonly entry: Bodiless
  readonly file: string
  /** Resolves with true when the file exists, and with false when it could not be written. */
  readonly written: Promise<boolean>
}

const MOST_WRITES = 32
/** The bound of all variants of an address. */
const ADDRESS_PART = 1 / 8
/** The smallest size of a file. Sizes are rounded up to it. */
const BLOCK_BYTES = 4_096

export interface DiskOptions {
  readonly folder: string
  readonly mostBytes: number
  /** The bound of memory for the index. */
  readonly mostIndexBytes: number
  /** Counts bodies that are being written and read. */
  readonly bodies: Budget
  /** Nothing is stored while it returns false. */
  readonly hasRoom?: () => boolean
}

/**
 * Creates the disk tier in a folder below `folder` that belongs to this process. It is emptied at the end or, after a
 * crash, by the next process: content that was purged in between must not come back, and a cache refills.
 */
export async function createDisk(options: DiskOptions): Promise<Disk> {
  const { folder, mostBytes, mostIndexBytes, bodies, hasRoom = () => true } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeLeftovers(folder)
  const own = join(folder, String(process.pid))
  await mkdir(own, { mode: 0o700 })
  let writes = 0
  let names = 0
  let indexBytes = 0
  const variants = new Variants<Kept>(mostBytes * ADDRESS_PART)
  const remove = (kept: Kept) => {
    indexBytes -= kept.entry.bytes
    variants.remove(kept)
    void kept.written.then(() => rm(kept.file, { force: true })).catch(() => {})
  }
  const entries = new LRUCache<string, Kept>({
    maxSize: mostBytes,
    sizeCalculation: ({ bytes }) => sizeOnDisk(bytes),
    dispose: remove,
  })
  const write = async (file: string, body: Buffer): Promise<boolean> => {
    writes++
    try {
      await writeFile(file, body, { mode: 0o600, flag: 'wx' })
      return true
    } catch {
      return false
    } finally {
      writes--
    }
  }
  return {
    keep(entry) {
      const body = entry.bodies[IDENTITY] as Buffer
      const share = bodies.share(entry.siteId)
      if (writes >= MOST_WRITES || !hasRoom() || sizeOnDisk(body.length) > mostBytes || !share.take(body.length)) return
      const file = join(own, (names++).toString(36))
      const written = write(file, body).finally(() => share.free())
      const { key, variantOf, hits } = entry
      const kept = { key, variantOf, hits, entry: withoutBodies(entry), bytes: body.length, file, written }
      indexBytes += kept.entry.bytes
      entries.set(key, kept)
      variants.add(kept)
      const tooMany = variantOf === undefined ? undefined : variants.tooMany(variantOf)
      if (tooMany) entries.delete(tooMany.key)
      while (indexBytes > mostIndexBytes) entries.pop()
    },
    has: (key) => entries.has(key),
    async take(key) {
      const kept = entries.get(key)
      const share = kept && bodies.share(kept.entry.siteId)
      if (!kept || !share?.take(kept.bytes)) return undefined
      try {
        if (!(await kept.written)) return undefined
        const body = await readFile(kept.file).catch(() => undefined)
        // Purged, replaced, or taken by another visitor during the read.
        if (entries.peek(key) !== kept) return undefined
        entries.delete(key)
        return body && withBody(kept.entry, body)
      } finally {
        share.free()
      }
    },
    forget: (key) => void entries.delete(key),
    forgetAddress(address) {
      entries.delete(address)
      for (const { key } of variants.of(address)) entries.delete(key)
    },
    purge(siteId, patterns) {
      for (const [key, { entry }] of entries)
        if (entry.siteId === siteId && isConcerned(entry, patterns)) entries.delete(key)
    },
    clear: () => entries.clear(),
    async close() {
      entries.clear()
      await rm(own, { recursive: true, force: true, maxRetries: 3 })
    },
    get bytes() {
      return entries.calculatedSize
    },
    get count() {
      return entries.size
    },
    get indexBytes() {
      return indexBytes
    },
  }
}

const sizeOnDisk = (bytes: number): number => Math.max(1, Math.ceil(bytes / BLOCK_BYTES)) * BLOCK_BYTES

/** Removes folders of processes that have ended. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (!/^\d+$/.test(name) || Number(name) === process.pid || !isAlive(Number(name)))
      await rm(join(folder, name), { recursive: true, force: true })
}
