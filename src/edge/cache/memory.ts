import type { Entry } from './entry.ts'
import { isPurgedBy } from './key.ts'

/** Entries in memory, least recently used ones out first, bounded by bytes. */
export interface Memory {
  /** Does not count as a use. */
  get(key: string): Entry | undefined
  /** Takes the place of an entry with the same key. */
  put(entry: Entry): void
  /** The entry was used: it is the last to go. */
  touch(entry: Entry): void
  /** The entry is larger now than it was. */
  grow(entry: Entry, bytes: number): void
  remove(entry: Entry): void
  /** Drops the entries of a site whose path a pattern names (see `isPurgedBy`). */
  purge(siteId: number, patterns: readonly string[]): void
  clear(): void
  readonly bytes: number
  readonly count: number
}

/**
 * Its own list instead of a library's: an entry grows when a compressed copy is made, and a use must cost next to nothing.
 * @param onEvict called with what had to go for want of room
 */
export function createMemory(mostBytes: number, onEvict: (entry: Entry) => void = () => {}): Memory {
  const byKey = new Map<string, Entry>()
  const bySite = new Map<number, Set<Entry>>()
  let newest: Entry | undefined
  let oldest: Entry | undefined
  let bytes = 0

  const unlink = (entry: Entry) => {
    if (entry.newer) entry.newer.older = entry.older
    else newest = entry.older
    if (entry.older) entry.older.newer = entry.newer
    else oldest = entry.newer
    entry.newer = undefined
    entry.older = undefined
  }
  const link = (entry: Entry) => {
    entry.older = newest
    if (newest) newest.newer = entry
    newest = entry
    oldest ??= entry
  }
  const remove = (entry: Entry) => {
    if (byKey.get(entry.key) !== entry) return
    byKey.delete(entry.key)
    const ofSite = bySite.get(entry.siteId)
    ofSite?.delete(entry)
    if (ofSite?.size === 0) bySite.delete(entry.siteId)
    unlink(entry)
    bytes -= entry.bytes
  }
  const makeRoom = () => {
    while (bytes > mostBytes && oldest) {
      const entry = oldest
      remove(entry)
      onEvict(entry)
    }
  }
  return {
    get: (key) => byKey.get(key),
    put(entry) {
      const before = byKey.get(entry.key)
      if (before) remove(before)
      byKey.set(entry.key, entry)
      const ofSite = bySite.get(entry.siteId) ?? new Set()
      bySite.set(entry.siteId, ofSite.add(entry))
      link(entry)
      bytes += entry.bytes
      makeRoom()
    },
    touch(entry) {
      if (entry === newest || byKey.get(entry.key) !== entry) return
      unlink(entry)
      link(entry)
    },
    grow(entry, by) {
      entry.bytes += by
      if (byKey.get(entry.key) !== entry) return
      bytes += by
      makeRoom()
    },
    remove,
    purge(siteId, patterns) {
      for (const entry of bySite.get(siteId) ?? [])
        if (patterns.some((pattern) => isPurgedBy(entry.path, pattern))) remove(entry)
    },
    clear() {
      byKey.clear()
      bySite.clear()
      newest = undefined
      oldest = undefined
      bytes = 0
    },
    get bytes() {
      return bytes
    },
    get count() {
      return byKey.size
    },
  }
}
