import { announce, lockForUpdate, type Tx } from '../../platform/db/database.ts'

/** Which cache of a site. */
export type Cache = 'edge_cache' | 'cdn'

/**
 * Switches a cache of a site on or off; without `enabled` to the other state.
 * @returns how it is now, and whether that is a change
 */
export async function switchCache(
  tx: Tx,
  siteId: number,
  cache: Cache,
  enabled: boolean | undefined,
  now: number,
): Promise<{ enabled: boolean; changed: boolean }> {
  // two toggles at a time are two changes
  await lockForUpdate(tx, 'sites', siteId)
  const before = await tx.selectFrom('sites').select(cache).where('id', '=', siteId).executeTakeFirstOrThrow()
  const next = enabled ?? before[cache] === 0
  const changed = next !== (before[cache] === 1)
  if (!changed) return { enabled: next, changed }
  await tx
    .updateTable('sites')
    .set({ [cache]: next ? 1 : 0 })
    .where('id', '=', siteId)
    .execute()
  await tx.updateTable('routes').set({ changed_at: now }).where('site_id', '=', siteId).execute()
  await announce(tx, 'routes', String(siteId))
  return { enabled: next, changed }
}
