import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../db/database.ts'
import { httpProblems, Problem } from '../problem.ts'

/**
 * How many keys an application may have at a time (they are kept for a day), and how many bytes their answers may take.
 */
export interface KeyLimits {
  readonly keys: number
  readonly bytes: number
}

/** Prevents an application from filling the database with keys. */
export interface KeyLimit {
  /**
   * Counts one more key.
   * @throws Problem `idempotency_keys_exhausted`
   */
  check(tx: Tx, applicationId: number, now: number): Promise<void>
}

/**
 * Between two counts, only the keys of this process are added. Several processes may exceed the limit by one minute's
 * keys.
 */
const COUNT_EVERY_MS = 60_000

interface Tally {
  keys: number
  readonly bytes: number
  readonly countedAt: number
}

export function createKeyLimit(limits: KeyLimits): KeyLimit {
  const tallies = new LRUCache<number, Tally>({ max: 10_000 })
  return {
    async check(tx, applicationId, now) {
      let tally = tallies.get(applicationId)
      if (!tally || Math.abs(now - tally.countedAt) > COUNT_EVERY_MS) {
        tally = { ...(await countKeys(tx, applicationId)), countedAt: now }
        tallies.set(applicationId, tally)
      }
      if (tally.keys < limits.keys && tally.bytes < limits.bytes) {
        tally.keys++
        return
      }
      throw new Problem(
        httpProblems.idempotency_keys_exhausted,
        { keys: tally.keys },
        { headers: { 'retry-after': '600' } },
      )
    },
  }
}

async function countKeys(tx: Tx, applicationId: number): Promise<{ keys: number; bytes: number }> {
  const { keys, bytes } = await tx
    .selectFrom('idempotency_keys')
    .select([sql<number>`count(*)`.as('keys'), sql<number>`coalesce(sum(size_bytes), 0)`.as('bytes')])
    .where('application_id', '=', applicationId)
    .executeTakeFirstOrThrow()
  return { keys: Number(keys), bytes: Number(bytes) }
}
