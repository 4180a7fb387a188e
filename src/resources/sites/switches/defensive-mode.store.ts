import { recordSite } from '../../../edge/routing/route-changes.store.ts'
import type { Tx } from '../../../platform/db/database.ts'

/**
 * Sets until when visitors of a site are challenged (milliseconds UTC), or `null` for no challenge. Hold the site.
 * @returns false, and changes nothing, when turning the mode on while the edge cache is off
 */
export async function setDefensiveUntil(tx: Tx, siteId: number, until: number | null, now: number): Promise<boolean> {
  const { edge_cache: edgeCache } = await tx
    .selectFrom('sites')
    .select('edge_cache')
    .where('id', '=', siteId)
    .executeTakeFirstOrThrow()
  if (until !== null && edgeCache === 0) return false
  await tx.updateTable('sites').set({ defensive_until: until }).where('id', '=', siteId).execute()
  await tx.updateTable('routes').set({ changed_at: now }).where('site_id', '=', siteId).execute()
  await recordSite(tx, siteId)
  return true
}
