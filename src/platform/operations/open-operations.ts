import type { Tx } from '../db/database.ts'
import { databaseNow } from './worker/lease.ts'

/** Operations of a site that have not ended and are not for a later time: what is ordered after them comes after them. Oldest first. */
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
