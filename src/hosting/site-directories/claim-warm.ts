import type { PhpPool, PooledSite } from '../php/pool/pool.ts'
import type { SiteDirectory } from './site-directory.ts'
import type { Spares } from './spares.ts'

/**
 * Gives a site the PHP process that was warmed in its site directory.
 * @returns whether there was one with the site's PHP version; any other is ended
 */
export async function claimWarm(
  { spares, pool }: { readonly spares: Pick<Spares, 'take'>; readonly pool: Pick<PhpPool, 'adopt'> },
  { id }: Pick<SiteDirectory, 'id'>,
  site: PooledSite,
): Promise<boolean> {
  const spare = await spares.take(id, site.phpVersion)
  if (!spare) return false
  // From here on, someone is waiting for it.
  spare.setLowPriority(false)
  await spare.moveIn({ address: site.address })
  await pool.adopt(site, spare)
  return true
}
