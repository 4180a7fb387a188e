import type { Tx } from '../../../platform/db/database.ts'
import type { SiteState } from '../site.ts'

/** Counts sites by state. Omits states without sites. */
export async function countSites(tx: Tx): Promise<{ state: SiteState; count: number }[]> {
  return tx
    .selectFrom('sites')
    .select(({ fn }) => ['state', fn.countAll<number>().as('count')])
    .where('deleted_at', 'is', null)
    .groupBy('state')
    .execute()
}
