import type { Tx } from '../../../platform/db/database.ts'
import { noteSite } from '../../search/public.ts'
import type { Site } from '../site.ts'
import { touchRoutes } from './route.store.ts'

/**
 * Makes a domain of a site the primary one. Null stands for its address under the staging domain. Hold the site. The
 * display name follows unless a user has set it. The caller starts `site.configure`, which tells WordPress.
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

/** Clears the primary domain of a site that is recovered if it is another site's now. */
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
