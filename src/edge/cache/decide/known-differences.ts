import { LRUCache } from 'lru-cache'

/** Remembers, for addresses with several variants, the headers that select a visitor's variant. */
export interface KnownDifferences {
  of(address: string): readonly string[] | undefined
  learn(address: string, by: readonly string[]): void
}

const MOST_BYTES = 4 << 20
/** A row with its names, besides its key: at most four of 64 characters, usually two short ones. */
const ROW_BYTES = 300
/** After this time, a site that no longer sends `Vary` is believed. */
const KNOWN_MS = 60 * 60_000

/** Creates the table, bounded by bytes. A lost row costs one more fetch, which finds the variants again. */
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
