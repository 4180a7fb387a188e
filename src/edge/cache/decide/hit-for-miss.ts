import { LRUCache } from 'lru-cache'

/** What is remembered of which addresses are worth asking for without anything of the visitor, so that PHP does not work for nobody. */
export interface HitForMiss {
  /** The last answer of this address was for nobody else. */
  isUnshared(key: string): boolean
  /** @param forMs how long that is taken for granted */
  unshared(key: string, forMs?: number): void
  /** An answer to one visitor could have been shared: the next asks for everybody. */
  shared(key: string): void
  /**
   * Whether the host is better asked for this visitor alone: the address is asked for the first time, and answers of its kind
   * were mostly of no use. Who comes next asks for everybody, so that a crowd makes one request all the same.
   * @param kind addresses and visitors that are alike
   */
  isDoubtful(kind: string, key: string): boolean
  /** @param ofUse whether the answer could be shared, and was for who asked */
  count(kind: string, ofUse: boolean): void
}

const UNSHARED_MS = 10 * 60_000
/** Of addresses. */
const MOST_BYTES = 4 << 20
/** An entry of a table with little in it, besides its key. */
const ROW_BYTES = 150
const MOST_KINDS = 10_000
/** So many more answers were of no use than of use: then new addresses are doubtful. */
const DOUBT = 8
const MOST_DOUBT = 2 * DOUBT

/** Two tables, bounded by bytes and by number. */
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
