import { LRUCache } from 'lru-cache'

/** Of addresses with several copies: the headers that decide which of them is a visitor's. */
export interface KnownDifferences {
  of(address: string): readonly string[] | undefined
  learn(address: string, by: readonly string[]): void
}

const MOST_BYTES = 4 << 20
/** A row with its names, besides its key: four of 64 characters at most, two short ones as a rule. */
const ROW_BYTES = 300
/** A site that tells no difference any more is taken at its word after that. */
const KNOWN_MS = 60 * 60_000

/** Bounded by bytes. Where a row is lost the next visit fetches one page more, and the copies are found again. */
export function createKnownDifferences(): KnownDifferences {
  const rows = new LRUCache<string, readonly string[]>({
    maxSize: MOST_BYTES,
    sizeCalculation: (by, key) => key.length + ROW_BYTES + by.reduce((sum, name) => sum + name.length, 0),
    ttl: KNOWN_MS,
  })
  return {
    of: (address) => rows.get(address),
    learn: (address, by) => void rows.set(address, by),
  }
}
