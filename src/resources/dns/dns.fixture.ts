import { type Scene, unique } from '../../../test/support/samples.ts'
import { setPrimaryDomain } from '../sites/addresses/primary-domain.store.ts'
import { putDomainRoute } from '../sites/addresses/route.store.ts'
import { findSite } from '../sites/site.store.ts'
import { insertRecords, insertZone, recordsOfZone } from './zone.store.ts'

/**
 * Creates a zone with a record that leads to a site. The site has the name as a domain only if it is its primary one.
 */
export async function zoneIn(
  api: Scene['api'],
  {
    accountId,
    siteId,
    name = `zone-${unique()}.test`,
    isPrimary = false,
  }: { accountId: number; siteId: number; name?: string; isPrimary?: boolean },
): Promise<{ zone: number; record: number }> {
  return api.database.transaction(async (tx) => {
    const zone = await insertZone(tx, accountId, name, 1)
    const draft = { name: 'www', value: '127.0.0.1', priority: null, weight: null, port: null, ttl: 3600, siteId }
    await insertRecords(tx, zone.id, [{ type: 'A', ...draft }], 1)
    const [record] = await recordsOfZone(tx, zone.id)
    const site = isPrimary && (await findSite(tx, siteId))
    if (site) {
      await putDomainRoute(tx, siteId, `www.${name}`, 1)
      await setPrimaryDomain(tx, site, `www.${name}`, 1)
    }
    return { zone: zone.id, record: record?.id as number }
  })
}
