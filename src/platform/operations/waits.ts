import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { databaseNow } from './worker/lease.ts'

/** The clocks of two servers, and of one across a correction, differ by less. */
const STEP_MS = 1000

export interface ClockWatch {
  /** @param nowMs the database's clock. @returns whether it was set back since the last call, or this is the first */
  wasSetBack(nowMs: number): boolean
}

/** @param monotonic milliseconds of a clock that nobody sets */
export function watchClock(monotonic: () => number = () => performance.now()): ClockWatch {
  let ahead = Number.POSITIVE_INFINITY
  return {
    wasSetBack(nowMs) {
      const before = ahead
      ahead = nowMs - monotonic()
      return before - ahead > STEP_MS
    },
  }
}

/**
 * A wait for the next attempt, or that of an operation that is due at once, is a length of time: after the clock was set back it
 * goes on from there, not from the moment to come that was written down. What somebody asked for at a certain time stays.
 */
export async function shortenWaits(database: Database, concurrencyClass: RawBuilder<boolean>): Promise<number> {
  return database.transaction(async (tx) => {
    const now = databaseNow(tx)
    const { numAffectedRows } = await sql`
      update operations as o set run_at = o.run_at - o.waits_since + ${now}, waits_since = ${now}
      where o.state = 'queued' and ${concurrencyClass} and o.waits_since > ${now} + ${STEP_MS}`.execute(tx)
    return Number(numAffectedRows ?? 0)
  })
}
