import { recordSite } from '../../../edge/routing/route-changes.store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import type { FlagColumn } from '../../../site-flags.ts'

/**
 * Switches a setting of a site on or off, or toggles it without `enabled`. Hold the site.
 * @returns the new state, and whether it changed
 */
export async function switchSetting(
  tx: Tx,
  siteId: number,
  setting: FlagColumn,
  enabled: boolean | undefined,
  now: number,
): Promise<{ enabled: boolean; changed: boolean }> {
  const before = await tx.selectFrom('sites').select(setting).where('id', '=', siteId).executeTakeFirstOrThrow()
  const next = enabled ?? before[setting] === 0
  const changed = next !== (before[setting] === 1)
  if (!changed) return { enabled: next, changed }
  await tx
    .updateTable('sites')
    // Defensive mode is a mode of the edge cache, and does not come back with it.
    .set({ [setting]: next ? 1 : 0, ...(setting === 'edge_cache' && !next && { defensive_until: null }) })
    .where('id', '=', siteId)
    .execute()
  await tx.updateTable('routes').set({ changed_at: now }).where('site_id', '=', siteId).execute()
  await recordSite(tx, siteId)
  return { enabled: next, changed }
}
