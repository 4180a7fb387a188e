import type { Tx } from '../../../platform/db/database.ts'
import { noteSite } from '../../search/search-words.ts'
import type { Site } from '../site.ts'
import { touchRoutes } from './route.store.ts'

/**
 * Makes a domain of a site, which is held, the one that it is to be reached by; null: its address under the staging domain. A display name that
 * nobody has chosen follows. WordPress itself is told by `site.configure`, which the caller starts.
 */
export async function setPrimaryDomain(
  tx: Tx,
  site: Pick<Site, 'id' | 'name' | 'displayName' | 'primaryDomain'>,
  hostName: string | null,
  now: number,
): Promise<void> {
  const isOurs = site.displayName === site.name || site.displayName === site.primaryDomain
  await tx
    .updateTable('sites')
    .set({ primary_domain: hostName, ...(isOurs && { display_name: hostName ?? site.name }) })
    .where('id', '=', site.id)
    .execute()
  if (isOurs) await noteSite(tx, site.id)
  await touchRoutes(tx, site.id, now)
}

/** Of a site that comes back: its primary domain may be another site's by now. */
export async function keepPrimaryDomain(tx: Tx, siteId: number, hostName: string): Promise<void> {
  await tx
    .updateTable('sites')
    .set({ primary_domain: null })
    .where('id', '=', siteId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(selectFrom('routes').select('site_id').where('host_name', '=', hostName).where('site_id', '=', siteId)),
      ),
    )
    .execute()
}
