import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { IDENTITY } from './encodings.ts'
import type { Entry } from './entry.ts'
import { isPurgedBy } from './key.ts'

/** The second tier: bodies of entries that memory had no room for. What is known of them stays in memory. */
export interface Disk {
  /** Keeps an entry that was used; drops it when too much is being written already. */
  keep(entry: Entry): void
  has(key: string): boolean
  /** Takes an entry out, whole; undefined when it is gone. */
  take(key: string): Promise<Entry | undefined>
  forget(key: string): void
  purge(siteId: number, patterns: readonly string[]): void
  clear(): void
  close(): Promise<void>
  readonly bytes: number
  readonly count: number
}

/** For processes without a disk tier. */
export const noDisk: Disk = {
  keep() {},
  has: () => false,
  take: async () => undefined,
  forget() {},
  purge() {},
  clear() {},
  close: async () => {},
  bytes: 0,
  count: 0,
}

interface Kept {
  readonly entry: Entry
  readonly file: string
  /** Resolves when the file is there; false: it could not be written. */
  readonly written: Promise<boolean>
}

const MOST_WRITES = 32
const MOST_ENTRIES = 50_000

/**
 * A folder of this process alone below `folder`. It is emptied at the end and, by the next process to come, after a crash: what
 * was purged while nobody looked must not come back, and a cache fills itself.
 * @param hasRoom nothing is kept while it says no
 */
export async function createDisk(folder: string, mostBytes: number, hasRoom = () => true): Promise<Disk> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await removeLeftovers(folder)
  const own = join(folder, String(process.pid))
  await mkdir(own, { mode: 0o700 })
  let writes = 0
  let names = 0
  const remove = (kept: Kept) => {
    void kept.written.then(() => rm(kept.file, { force: true })).catch(() => {})
  }
  const entries = new LRUCache<string, Kept>({
    max: MOST_ENTRIES,
    maxSize: mostBytes,
    sizeCalculation: ({ entry }) => (entry.bodies[IDENTITY]?.length ?? entry.bytes) + 1,
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
      if (writes >= MOST_WRITES || !hasRoom()) return
      const file = join(own, (names++).toString(36))
      const body = entry.bodies[IDENTITY] as Buffer
      entries.set(entry.key, { entry: withoutBodies(entry, body.length), file, written: write(file, body) })
    },
    has: (key) => entries.has(key),
    async take(key) {
      const kept = entries.get(key)
      if (!kept || !(await kept.written)) return undefined
      const body = await readFile(kept.file).catch(() => undefined)
      // purged, replaced or taken by another visitor while it was read
      if (entries.peek(key) !== kept) return undefined
      entries.delete(key)
      return body && withBody(kept.entry, body)
    },
    forget: (key) => void entries.delete(key),
    purge(siteId, patterns) {
      for (const [key, { entry }] of entries)
        if (entry.siteId === siteId && patterns.some((pattern) => isPurgedBy(entry.path, pattern))) entries.delete(key)
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
  }
}

function withoutBodies(entry: Entry, bodyBytes: number): Entry {
  return {
    ...entry,
    bodies: [],
    prepared: [],
    asked: 1 << IDENTITY,
    bytes: bodyBytes,
    newer: undefined,
    older: undefined,
  }
}

function withBody(entry: Entry, body: Buffer): Entry {
  return { ...entry, bodies: [body, undefined, undefined, undefined], bytes: body.length + 2048, isRefreshing: false }
}

/** Folders of processes that run no more. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (!/^\d+$/.test(name) || Number(name) === process.pid || !isAlive(Number(name)))
      await rm(join(folder, name), { recursive: true, force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
