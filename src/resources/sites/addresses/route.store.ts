import { recordNames, recordSite } from '../../../edge/routing/route-changes.store.ts'
import { forgetCertificates } from '../../../edge/tls/tls.store.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { precompiledChange } from '../../../platform/db/precompiled.ts'
import { noteSite } from '../../search/public.ts'

/* The host names of sites. Edges and hosts reload what has changed. */

/** Makes edges and hosts reload a site. */
export async function touchRoutes(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx.updateTable('routes').set({ changed_at: now }).where('site_id', '=', siteId).execute()
  await recordSite(tx, siteId)
}

/** Makes edges and hosts reload all sites of an account, except those in the trash. */
export async function touchRoutesOfAccount(tx: Tx, accountId: number): Promise<void> {
  const rows = await tx
    .selectFrom('routes')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .select('routes.host_name')
    .where('sites.account_id', '=', accountId)
    .where('sites.deleted_at', 'is', null)
    .execute()
  await recordNames(
    tx,
    rows.map(({ host_name: name }) => name),
  )
}

/** Gives a site a host name. Changes nothing if the site already has it. */
export async function putRoute(tx: Tx, siteId: number, hostName: string, now: number, isDomain = false): Promise<void> {
  await upsertRoute(tx, { hostName, siteId, isDomain: isDomain ? 1 : 0, now })
  await recordNames(tx, [hostName])
  await noteSite(tx, siteId)
}

const upsertRoute = precompiledChange(
  (tx, { hostName, siteId, isDomain, now }: { hostName: string; siteId: number; isDomain: 0 | 1; now: number }) =>
    tx
      .insertInto('routes')
      .values({ host_name: hostName, site_id: siteId, is_domain: isDomain, changed_at: now })
      .onConflict((conflict) =>
        conflict.column('host_name').doUpdateSet({ site_id: siteId, is_domain: isDomain, changed_at: now }),
      ),
)

/** Changes the only host name that a site has under the staging domain. */
export async function moveStagingRoute(tx: Tx, siteId: number, to: string, now: number): Promise<void> {
  const known = await tx
    .selectFrom('routes')
    .select('host_name')
    .where('site_id', '=', siteId)
    .where('is_domain', '=', 0)
    .execute()
  const names = known.map((row) => row.host_name)
  if (names.length === 1 && names[0] === to) return
  await tx.deleteFrom('routes').where('site_id', '=', siteId).where('is_domain', '=', 0).execute()
  await forgetCertificates(tx, names)
  await recordNames(tx, names)
  await putRoute(tx, siteId, to, now)
}

/** Gives a site the host name of a domain. No other site may have it, except a deleted one. */
export async function putDomainRoute(tx: Tx, siteId: number, hostName: string, now: number): Promise<void> {
  await putRoute(tx, siteId, hostName, now, true)
}

/** Removes the host name of a domain from a site. */
export async function deleteDomainRoute(tx: Tx, siteId: number, hostName: string): Promise<void> {
  await tx
    .deleteFrom('routes')
    .where('host_name', '=', hostName)
    .where('site_id', '=', siteId)
    .where('is_domain', '=', 1)
    .execute()
  await recordNames(tx, [hostName])
  await noteSite(tx, siteId)
}

/** Returns the domains of a site. */
export async function hostNamesOf(tx: Tx, siteId: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('routes')
    .select('host_name')
    .where('site_id', '=', siteId)
    .where('is_domain', '=', 1)
    .orderBy('host_name')
    .execute()
  return rows.map((row) => row.host_name)
}

/** Returns which site has a host name, unless it is deleted. */
export async function siteOfHostName(
  tx: Tx,
  hostName: string,
): Promise<{ siteId: number; isDomain: boolean } | undefined> {
  const row = await tx
    .selectFrom('routes')
    .innerJoin('sites', 'sites.id', 'routes.site_id')
    .select(['routes.site_id as siteId', 'routes.is_domain'])
    .where('host_name', '=', hostName)
    .where('sites.deleted_at', 'is', null)
    .executeTakeFirst()
  return row && { siteId: row.siteId, isDomain: row.is_domain === 1 }
}

/** Deletes the routes of a purged site. A name that another site has taken meanwhile stays with that site. */
export async function deleteRoutes(tx: Tx, siteId: number): Promise<void> {
  await recordSite(tx, siteId)
  await tx.deleteFrom('routes').where('site_id', '=', siteId).execute()
}
