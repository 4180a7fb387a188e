import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../db/database.ts'
import { databaseNow } from './worker/lease.ts'

/** The clocks of two servers, or of one across a correction, differ by less. */
const STEP_MS = 1000

/**
 * Shortens waits after the clock was set back. A wait for the next attempt, or of an operation that is due at once, is
 * a duration. It continues from the new time, and not from the recorded future time. An operation requested for a
 * certain time keeps it.
 *
 * A wait that began in the future proves that the clock was set back since. A process that watches the clock could miss
 * this, because the clock may move forward and back between two looks.
 * @returns how many waits it moved
 */
export async function shortenWaits(database: Database, concurrencyClass: RawBuilder<boolean>): Promise<number> {
  const wrongWaits = (now: RawBuilder<number>) =>
    sql<boolean>`o.state = 'queued' and ${concurrencyClass} and o.run_at > ${now} and o.waits_since > ${now} + ${STEP_MS}`
  const { rows } = await sql`
    select o.id from operations o where ${wrongWaits(databaseNow(database.read))} limit 1`.execute(database.read)
  if (rows.length === 0) return 0
  return database.transaction(async (tx) => {
    const now = databaseNow(tx)
    const { numAffectedRows } = await sql`
      update operations as o set run_at = o.run_at - o.waits_since + ${now}, waits_since = ${now}
      where ${wrongWaits(now)}`.execute(tx)
    return Number(numAffectedRows ?? 0)
  })
}
