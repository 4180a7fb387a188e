import {
  at,
  type Example,
  type Examples,
  type Sample,
  type Scene,
  unique,
  type World,
} from '../../../test/support/samples.ts'
import { wantCertificate } from '../certificates/certificate.ts'
import { setPrimaryDomain } from '../sites/addresses/primary-domain.store.ts'
import { putDomainRoute } from '../sites/addresses/route.store.ts'
import { findSite } from '../sites/site.store.ts'
import { insertRecords, insertZone, recordsOf } from './zone.store.ts'

const inZone = (rest: string) => (world: World) => `/v1/zones/${world.zone}${rest}`
const text = () => ({ type: 'TXT', name: `note-${unique()}`, value: 'hello' })
const file = () => ({ file: `note-${unique()} 60 IN TXT "hello"\n` })
const provider = { provider: 'titan_mail' }

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listZones', path: at('/v1/zones') },
  { endpoint: 'getZone', path: inZone('/records'), roles: ['manage_dns'] },
  { endpoint: 'createDnsRecord', path: inZone('/records'), body: text, roles: ['manage_dns'] },
  { endpoint: 'deleteDnsRecord', path: (world) => inZone(`/records/${world.record}`)(world), roles: ['manage_dns'] },
  { endpoint: 'getSsl', path: (world) => inZone(`/records/${world.record}/ssl`)(world), roles: ['manage_dns'], prepare: (world, api) => tried(api, world.record) },
  { endpoint: 'retrySsl', path: (world) => inZone(`/records/${world.record}/ssl`)(world), roles: ['manage_dns'] },
  { endpoint: 'exportZone', path: inZone('/file'), roles: ['manage_dns'] },
  { endpoint: 'importZone', path: inZone('/file'), body: file, roles: ['manage_dns'] },
  { endpoint: 'previewZoneFile', path: inZone('/file/preview'), body: file, roles: ['manage_dns'] },
  { endpoint: 'applyMailProvider', path: inZone('/providers'), body: () => provider, roles: ['manage_dns'] },
]

export const examples: Examples = {
  getZone: zoned,
  createDnsRecord: async (scene) => ({ ...(await zoned(scene)), body: text() }),
  deleteDnsRecord: primary,
  getSsl: async (scene) => {
    const example = await zoned(scene)
    await tried(scene.api, example.params?.id as number)
    return example
  },
  retrySsl: zoned,
  exportZone: zoned,
  importZone: async (scene) => ({ ...(await zoned(scene)), body: file() }),
  previewZoneFile: async (scene) => ({ ...(await zoned(scene)), body: file() }),
  applyMailProvider: async (scene) => ({ ...(await zoned(scene)), body: provider }),
}

async function zoned({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  const { zone, record } = await zoneIn(api, { accountId, siteId })
  return { params: { zone_id: zone, id: record } }
}

/** Primary, because otherwise there would be no background work. */
async function primary({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  const { zone, record } = await zoneIn(api, { accountId, siteId, isPrimary: true })
  return { params: { zone_id: zone, id: record } }
}

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
    const [record] = await recordsOf(tx, zone.id)
    const site = isPrimary && (await findSite(tx, siteId))
    if (site) {
      await putDomainRoute(tx, siteId, `www.${name}`, 1)
      await setPrimaryDomain(tx, site, `www.${name}`, 1)
    }
    return { zone: zone.id, record: record?.id as number }
  })
}

/** Records a failed certificate order for the name of a record. */
async function tried(api: Scene['api'], record: number): Promise<void> {
  const found = await api.database.read
    .selectFrom('dns_records')
    .innerJoin('zones', 'zones.id', 'dns_records.zone_id')
    .select(['dns_records.name', 'zones.name as zone', 'site_id'])
    .where('dns_records.id', '=', record)
    .executeTakeFirstOrThrow()
  const hostName = `${found.name}.${found.zone}`
  await api.database.transaction(async (tx) => {
    await wantCertificate(tx, { hostName, siteId: found.site_id as number, now: 1 })
    await tx
      .updateTable('certificates')
      .set({ order_url: 'https://ca.example/order/1', reason: 'It did not answer', reason_at: 1 })
      .where('host_name', '=', hostName)
      .execute()
  })
}
