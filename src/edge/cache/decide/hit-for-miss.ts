import { LRUCache } from 'lru-cache'

/**
 * Remembers which addresses are worth fetching without the visitor's headers, so that PHP does not work for nothing.
 */
export interface HitForMiss {
  /** Returns whether the last answer of this address was for one visitor only. */
  isUnshared(key: string): boolean
  /** @param forMs how long the note is valid */
  unshared(key: string, forMs?: number): void
  /** Records that an answer to one visitor was shareable: the next request fetches it for everyone. */
  shared(key: string): void
  /**
   * Returns whether to ask the host for this visitor alone: the address is new, and answers of its kind were mostly not
   * shareable. The next visitor's request is for everyone, so that a crowd still makes one request.
   * @param kind groups similar addresses and visitors
   */
  isDoubtful(kind: string, key: string): boolean
  /** @param ofUse whether the answer was shareable, and right for the visitor who asked */
  count(kind: string, ofUse: boolean): void
}

const UNSHARED_MS = 10 * 60_000
/** The bound of the table of addresses. */
const MOST_BYTES = 4 << 20
/** The overhead of a small table entry, besides its key. */
const ROW_BYTES = 150
const MOST_KINDS = 10_000
/** New addresses are doubtful when this many more answers were useless than useful. */
const DOUBT = 8
const MOST_DOUBT = 2 * DOUBT

/** Creates the two tables, bounded by bytes and by number. */
export function createHitForMiss(): HitForMiss {
  const addresses = new LRUCache<string, 'unshared' | 'asked once'>({
    maxSize: MOST_BYTES,
    sizeCalculation: (_is, key) => key.length + ROW_BYTES,
    ttl: UNSHARED_MS,
  })
  const doubts = new LRUCache<string, number>({ max: MOST_KINDS, ttl: UNSHARED_MS })
  return {
    isUnshared: (key) => addresses.get(key) === 'unshared',
    unshared: (key, forMs = UNSHARED_MS) => void addresses.set(key, 'unshared', { ttl: forMs }),
    shared(key) {
      if (addresses.get(key) === 'unshared') addresses.set(key, 'asked once')
    },
    isDoubtful(kind, key) {
      if ((doubts.get(kind) ?? 0) < DOUBT || addresses.has(key)) return false
      addresses.set(key, 'asked once')
      return true
    },
    count(kind, ofUse) {
      const doubt = doubts.get(kind) ?? 0
      if (!ofUse) doubts.set(kind, Math.min(doubt + 1, MOST_DOUBT))
      else if (doubt > 0) doubts.set(kind, doubt - 1)
    },
  }
}
