import type { Tx } from '../db/database.ts'
import { databaseNow } from './worker/lease.ts'

/**
 * Returns a site's operations that have not ended and are not for a later time, oldest first. Operations requested
 * after them run after them.
 */
export async function openOperations(tx: Tx, siteId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('operations')
    .select('id')
    .where('site_id', '=', siteId)
    .where('finished_at', 'is', null)
    .where(({ eb, or }) => or([eb('started_at', 'is not', null), eb('run_at', '<=', databaseNow(tx))]))
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
