import type { Tx } from '../../platform/db/database.ts'
import type { MailSite } from './message.ts'

/** The most host names of a site to compare with a mail's sender. */
const MOST_NAMES = 1000

/**
 * Returns the names that a site may send from.
 * @returns undefined for a site that does not exist
 */
export async function mailingSite(tx: Tx, siteId: number): Promise<(MailSite & { isProduction: boolean }) | undefined> {
  const site = await tx
    .selectFrom('sites')
    .select(['written_address as address', 'environment_type as environmentType'])
    .where('id', '=', siteId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (!site?.address) return undefined
  const routes = await tx
    .selectFrom('routes')
    .select('host_name as hostName')
    .where('site_id', '=', siteId)
    .where('host_name', 'not like', '*.%')
    .orderBy('host_name')
    .limit(MOST_NAMES)
    .execute()
  const own = site.address.replace(/:\d+$/, '')
  const names = [own, ...routes.map(({ hostName }) => hostName)].map((name) => name.toLowerCase().replace(/^www\./, ''))
  return { siteId, names: [...new Set(names)], isProduction: site.environmentType === 'production' }
}
