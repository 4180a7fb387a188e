import { recordNames, recordSite } from '../../edge/route-changes.store.ts'
import type { Tx } from '../../platform/db/database.ts'
import { precompiledChange } from '../../platform/db/precompiled.ts'

/* The host names of sites. Edges and hosts read again what has changed. */

/** Makes edges and hosts read a site again. */
export async function touchRoutes(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx.updateTable('routes').set({ changed_at: now }).where('site_id', '=', siteId).execute()
  await recordSite(tx, siteId)
}

/** Gives a site a host name; one that it has already is left alone. */
export async function putRoute(tx: Tx, siteId: number, hostName: string, now: number): Promise<void> {
  await upsertRoute(tx, { hostName, siteId, now })
  await recordNames(tx, [hostName])
}

const upsertRoute = precompiledChange(
  (tx, { hostName, siteId, now }: { hostName: string; siteId: number; now: number }) =>
    tx
      .insertInto('routes')
      .values({ host_name: hostName, site_id: siteId, changed_at: now })
      .onConflict((conflict) => conflict.column('host_name').doUpdateSet({ site_id: siteId, changed_at: now })),
)

/** Replaces one host name of a site by another. */
export async function moveRoute(tx: Tx, siteId: number, from: string, to: string, now: number): Promise<void> {
  if (from !== to) {
    await tx.deleteFrom('routes').where('host_name', '=', from).where('site_id', '=', siteId).execute()
    await recordNames(tx, [from])
  }
  await putRoute(tx, siteId, to, now)
}

/** After the end of a deleted site. A name that another site has taken meanwhile stays that one's. */
export async function deleteRoutes(tx: Tx, siteId: number): Promise<void> {
  await recordSite(tx, siteId)
  await tx.deleteFrom('routes').where('site_id', '=', siteId).execute()
}
