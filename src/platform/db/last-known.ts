import { LRUCache } from 'lru-cache'
import { isBusy } from './database.ts'
import { isLost } from './open-fault.ts'

/** Returns whether an error means that the database is unreachable or busy, so that every query would fail now. */
export const isAway = (error: unknown): boolean => isLost(error) || isBusy(error)

/** Visitors depend on few facts of a site, and PHP of few sites runs at once. */
const MOST = 10_000

/**
 * Answers from memory while the database is away, for facts that visitors must not wait for.
 * @param load asks the database
 * @returns the same, which rejects only for keys that were never asked before
 */
export function orLastKnown<Key extends string | number, Value extends object>(
  load: (key: Key) => Promise<Value | undefined>,
): (key: Key) => Promise<Value | undefined> {
  const known = new LRUCache<Key, Value>({ max: MOST })
  return async (key) => {
    try {
      const found = await load(key)
      if (found) known.set(key, found)
      else known.delete(key)
      return found
    } catch (error) {
      const last = isAway(error) ? known.get(key) : undefined
      if (!last) throw error
      return last
    }
  }
}
