import { isConcerned } from '../decide/cache-key.ts'
import type { Entry } from './entry.ts'
import { UseOrder } from './use-order.ts'
import { Variants } from './variants.ts'

/**
 * Entries in memory, bounded by bytes. An entry that has left the table still counts until the last slow visitor has
 * read it.
 */
export interface Memory {
  /** Returns an entry. Does not count as a use. */
  get(key: string): Entry | undefined
  /** Stores an entry, and replaces one with the same key. @returns false when too much is being read to make room */
  put(entry: Entry): boolean
  /** Marks the entry as used, so that it is dropped last. */
  touch(entry: Entry): void
  /** @returns false when the entry is gone, and may not grow */
  grow(entry: Entry, bytes: number): boolean
  /** Keeps the entry's bodies for a reader. */
  hold(entry: Entry): void
  release(entry: Entry): void
  remove(entry: Entry): void
  /** Drops everything stored for an address, with all its variants. */
  forget(address: string): void
  /** Drops the entries of a site whose path, or the path of what they show, matches a pattern (see `isPurgedBy`). */
  purge(siteId: number, patterns: readonly string[]): void
  clear(): void
  /**
   * Drops entries until `besides` fits. @returns false when what is being read does not leave room for this many more
   * bytes
   */
  makeRoom(more: number): boolean
  readonly bytes: number
  /** The part that is being read and cannot be dropped. */
  readonly heldBytes: number
  readonly count: number
  /** The entries that are variants of an address. */
  readonly variants: number
}

/** A site's share of the memory. */
interface SitePart {
  readonly entries: Set<Entry>
  readonly order: UseOrder<Entry>
  heldBytes: number
}

/** The largest share of a site while others want memory. */
const SITE_PART = 1 / 2
/** The bound of all variants of an address. */
const ADDRESS_PART = 1 / 8

/**
 * Creates the table. It is not a library's, because an entry grows with each compressed copy, and a use must cost next
 * to nothing.
 * @param onEvict called with each evicted entry
 * @param besides other uses of these bytes, which take precedence over entries
 */
export function createMemory(
  mostBytes: number,
  onEvict: (entry: Entry) => void = () => {},
  besides: () => number = () => 0,
): Memory {
  const byKey = new Map<string, Entry>()
  const sites = new Map<number, SitePart>()
  const order = new UseOrder<Entry>()
  const variants = new Variants<Entry>(mostBytes * ADDRESS_PART)
  const siteBytes = mostBytes * SITE_PART
  let largest: SitePart | undefined
  /** Bytes of entries that have left the table but are still being read. */
  let lingering = 0
  let held = 0
  let heldCount = 0

  const isThere = (entry: Entry) => byKey.get(entry.key) === entry
  const bytesNow = () => order.bytes + lingering
  const siteOf = (siteId: number): SitePart => {
    let site = sites.get(siteId)
    if (!site) {
      site = { entries: new Set(), order: new UseOrder<Entry>(), heldBytes: 0 }
      sites.set(siteId, site)
    }
    return site
  }
  const forget = (siteId: number, site: SitePart) => {
    if (site.order.bytes > 0 || site.heldBytes > 0) return
    sites.delete(siteId)
    if (largest === site) largest = undefined
  }
  const remove = (entry: Entry) => {
    if (!isThere(entry)) return
    byKey.delete(entry.key)
    variants.remove(entry)
    const site = siteOf(entry.siteId)
    site.entries.delete(entry)
    order.remove(entry.places[0])
    site.order.remove(entry.places[1])
    if (entry.readers > 0) lingering += entry.bytes
    forget(entry.siteId, site)
  }
  const use = (entry: Entry) => {
    order.use(entry.places[0])
    siteOf(entry.siteId).order.use(entry.places[1])
  }
  /** Returns the first entry to drop that nobody reads. */
  const firstOf = (from: UseOrder<Entry>): Entry | undefined => {
    for (let tries = heldCount; tries >= 0; tries--) {
      const entry = from.first
      if (!entry || entry.readers === 0) return entry
      use(entry)
    }
    return undefined
  }
  const makeRoom = (more = 0) => {
    while (bytesNow() + besides() + more > mostBytes) {
      // At most one site has more than half.
      const isOver = largest && largest.order.bytes > siteBytes
      const entry = (isOver && firstOf((largest as SitePart).order)) || firstOf(order)
      if (!entry) return
      remove(entry)
      onEvict(entry)
    }
  }
  const keepFew = ({ variantOf }: Entry) => {
    if (variantOf === undefined) return
    for (let gone = variants.tooMany(variantOf); gone; gone = variants.tooMany(variantOf)) remove(gone)
  }
  const count = (entry: Entry, by: number) => {
    held += by
    siteOf(entry.siteId).heldBytes += by
  }
  return {
    get: (key) => byKey.get(key),
    put(entry) {
      const before = byKey.get(entry.key)
      if (before) remove(before)
      const site = siteOf(entry.siteId)
      if (held + entry.bytes > mostBytes || site.heldBytes + entry.bytes > siteBytes) {
        forget(entry.siteId, site)
        return false
      }
      byKey.set(entry.key, entry)
      variants.add(entry)
      site.entries.add(entry)
      order.add(entry.places[0])
      site.order.add(entry.places[1])
      if (!largest || site.order.bytes > largest.order.bytes) largest = site
      makeRoom()
      keepFew(entry)
      return true
    },
    touch(entry) {
      if (!isThere(entry)) return
      use(entry)
      if (entry.variantOf !== undefined) variants.use(entry)
    },
    grow(entry, by) {
      if (!isThere(entry)) return false
      const site = siteOf(entry.siteId)
      order.grow(entry.places[0], by)
      site.order.grow(entry.places[1], by)
      entry.bytes += by
      if (entry.readers > 0) count(entry, by)
      if (!largest || site.order.bytes > largest.order.bytes) largest = site
      makeRoom()
      keepFew(entry)
      return true
    },
    hold(entry) {
      if (entry.readers++ > 0) return
      heldCount++
      count(entry, entry.bytes)
      if (isThere(entry)) return
      lingering += entry.bytes
      makeRoom()
    },
    release(entry) {
      if (--entry.readers > 0) return
      heldCount--
      count(entry, -entry.bytes)
      if (!isThere(entry)) lingering -= entry.bytes
      forget(entry.siteId, siteOf(entry.siteId))
    },
    remove,
    forget(address) {
      for (const entry of [byKey.get(address), ...variants.of(address)]) if (entry) remove(entry)
    },
    purge(siteId, patterns) {
      for (const entry of sites.get(siteId)?.entries ?? []) if (isConcerned(entry, patterns)) remove(entry)
    },
    makeRoom(more) {
      if (held + besides() + more > mostBytes) return false
      makeRoom(more)
      return true
    },
    clear() {
      for (const entry of [...byKey.values()]) remove(entry)
    },
    get bytes() {
      return bytesNow()
    },
    get heldBytes() {
      return held
    },
    get count() {
      return byKey.size
    },
    get variants() {
      return variants.count
    },
  }
}
