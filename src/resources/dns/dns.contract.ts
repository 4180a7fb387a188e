import type { Contract, ProblemCase } from '../../../test/support/contract.ts'
import {
  at,
  type Example,
  type Examples,
  type Sample,
  type Scene,
  unique,
  type World,
} from '../../../test/support/samples.ts'
import {
  fillDomains,
  friend,
  friendHas,
  inOwnZone,
  siteIs,
  takeHostName,
  write,
  zoneOfOperator,
} from '../../../test/support/scenes.ts'
import { wantCertificate } from '../certificates/certificate.ts'
import { zoneIn } from './dns.fixture.ts'
import { MOST_RECORDS } from './records/record.ts'

/** A site on which the owner of the scene has all roles, but which another account owns. */
async function sitesOfFriend({ api, owner, friend: other, number }: Scene): Promise<number> {
  const site = await api.site(other, `friends-${number}`)
  await api.collaborate(owner, site, ['manage_dns'])
  return site
}

async function withZone({ api, owner: { accountId }, siteId, number }: Scene, end = 'test'): Promise<Example> {
  const { zone, record } = await zoneIn(api, { accountId, siteId, name: `scene-${number}.${end}` })
  return { params: { zone_id: zone, id: record } }
}

function recordIs(values: { type?: 'TXT'; site_id?: null }) {
  return (scene: Scene) =>
    write(scene, (tx) => tx.updateTable('dns_records').set(values).where('site_id', '=', scene.siteId).execute())
}

const inZone = (rest: string) => (world: World) => `/v1/zones/${world.zone}${rest}`

const text = () => ({ type: 'TXT', name: `note-${unique()}`, value: 'hello' })

const file = () => ({ file: `note-${unique()} 60 IN TXT "hello"\n` })

const provider = { provider: 'titan_mail' }

async function zoned({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  const { zone, record } = await zoneIn(api, { accountId, siteId })
  return { params: { zone_id: zone, id: record } }
}

/** Primary, because otherwise there would be no background work. */
async function primary({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  const { zone, record } = await zoneIn(api, { accountId, siteId, isPrimary: true })
  return { params: { zone_id: zone, id: record } }
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

// biome-ignore format: a table
const samples: readonly Sample[] = [
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

const examples: Examples = {
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

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['getZone', 'createDnsRecord', 'deleteDnsRecord', 'applyMailProvider', 'exportZone', 'importZone', 'previewZoneFile', 'getSsl', 'retrySsl'], code: 'forbidden', prepare: friendHas('[]'), by: friend },
  { of: ['createDnsRecord'], code: 'record_exists', example: (scene) => inOwnZone(scene, { type: 'A', name: 'www', value: '127.0.0.1' }) },
  { of: ['createDnsRecord'], code: 'record_conflict', example: (scene) => inOwnZone(scene, { type: 'CNAME', name: 'www', value: 'a.test' }) },
  { of: ['applyMailProvider'], code: 'record_conflict', example: (scene) => inOwnZone(scene, { provider: 'rackspace_email' }, { name: 'autodiscover' }) },
  { of: ['createDnsRecord'], code: 'record_limit_reached', example: (scene) => inOwnZone(scene, { type: 'TXT', value: 'x' }, { count: MOST_RECORDS }) },
  { of: ['applyMailProvider'], code: 'record_limit_reached', example: (scene) => inOwnZone(scene, { provider: 'titan_mail' }, { count: MOST_RECORDS }) },
  { of: ['getSsl'], code: 'ssl_nothing_found', example: withZone },
  { of: ['getSsl'], code: 'ssl_only_a_records', example: withZone, prepare: recordIs({ type: 'TXT' }) },
  { of: ['retrySsl'], code: 'invalid_ssl_record', prepare: recordIs({ type: 'TXT' }) },
  { of: ['retrySsl'], code: 'ssl_record_of_no_site', prepare: recordIs({ site_id: null }) },
  { of: ['retrySsl'], code: 'ssl_not_certifiable', example: (scene) => withZone(scene, 'local') },
  { of: ['importZone', 'previewZoneFile'], code: 'record_limit_reached', example: (scene) => inOwnZone(scene, { file: 'a 60 IN TXT x' }, { count: MOST_RECORDS }) },
  { of: ['createDnsRecord'], code: 'host_name_taken', example: (scene) => inOwnZone(scene, { type: 'A', name: 'taken', site_id: scene.siteId }), prepare: takeHostName },
  { of: ['createDnsRecord'], code: 'staging_site_domains', example: (scene) => inOwnZone(scene, { type: 'A', name: 'a', site_id: scene.siteId }), prepare: siteIs({ staging: 1 }) },
  { of: ['createDnsRecord'], code: 'zone_of_another_account', example: async (scene) => inOwnZone(scene, { type: 'A', name: 'a', site_id: await sitesOfFriend(scene) }) },
  { of: ['createDnsRecord'], code: 'domain_limit_reached', example: (scene) => inOwnZone(scene, { type: 'A', name: 'a', site_id: scene.siteId }), prepare: fillDomains },
  { of: ['createDnsRecord', 'deleteDnsRecord', 'applyMailProvider', 'importZone', 'previewZoneFile'], code: 'reserved_name', prepare: zoneOfOperator },
  { of: ['createDnsRecord'], code: 'staging_domain_name', example: async (scene) => { const example = await inOwnZone(scene, { type: 'A', name: 'a', site_id: scene.siteId }); await write(scene, (tx) => tx.updateTable('zones').set({ name: `scene-${scene.number}.localhost` }).where('name', '=', `scene-${scene.number}.test`).execute()); return example } },
]

const events: Contract['events'] = {
  deleteDnsRecord: ['domain_removed'],
}

export const contract: Contract = { samples, examples, problems, events }
