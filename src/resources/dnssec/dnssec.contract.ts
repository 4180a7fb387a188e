import { expect } from 'vitest'
import type { Contract, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { change } from '../../../test/support/job-worlds.ts'
import type { Example, Examples, Sample, Scene, World } from '../../../test/support/samples.ts'
import { friend, friendHas, zoneOfOperator } from '../../../test/support/scenes.ts'
import { zoneIn } from '../dns/dns.fixture.ts'
import { signZone } from './dnssec.fixture.ts'
import { addKey, setDue } from './key.store.ts'

async function withSignedZone({ api, site }: JobWorld): Promise<number> {
  const row = await api.database.read.selectFrom('sites').select('account_id').where('id', '=', site).executeTakeFirst()
  const accountId = row?.account_id as number
  const { zone } = await zoneIn(api, { accountId, siteId: site, name: `signed-${site}.test` })
  await signZone(api, zone)
  return zone
}

const inZone = (rest: string) => (world: World) => `/v1/zones/${world.zone}${rest}`

async function unsigned({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  const { zone } = await zoneIn(api, { accountId, siteId })
  return { params: { zone_id: zone } }
}

async function signed(scene: Scene): Promise<Example> {
  const example = await unsigned(scene)
  await signZone(scene.api, example.params?.zone_id as number)
  return example
}

/** A zone whose key is changing. */
async function rolling(scene: Scene): Promise<Example> {
  const example = await signed(scene)
  const { database, sealer } = scene.api
  const zone = example.params?.zone_id as number
  await database.transaction((tx) => addKey(tx, zone, { state: 'published', now: 1, sealer }))
  return example
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getDnssec', path: inZone('/dnssec'), roles: ['manage_dns'] },
  { endpoint: 'changeDnssec', path: inZone('/dnssec'), body: () => ({ enabled: true }), roles: ['manage_dns'] },
  { endpoint: 'rollDnssecKey', path: inZone('/dnssec/keys'), status: 201, roles: ['manage_dns'], prepare: (world, api) => signZone(api, world.zone) },
]

const examples: Examples = {
  getDnssec: signed,
  changeDnssec: async (scene) => ({ ...(await unsigned(scene)), body: { enabled: true } }),
  rollDnssecKey: signed,
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['getDnssec', 'changeDnssec', 'rollDnssecKey'], code: 'forbidden', prepare: friendHas('[]'), by: friend },
  { of: ['rollDnssecKey'], code: 'dnssec_off', example: unsigned },
  { of: ['rollDnssecKey'], code: 'key_roll_under_way', example: rolling },
  { of: ['changeDnssec', 'rollDnssecKey'], code: 'reserved_name', prepare: zoneOfOperator },
]

const jobs: Record<string, JobSample> = {
  'dnssec.look': {
    prepare: async (world) => ({ input: { zoneId: await withSignedZone(world) }, options: { siteId: null } }),
    async done({ api, site }) {
      const zones = api.database.read.selectFrom('zones').where('name', '=', `signed-${site}.test`)
      const zone = await zones.select(['ds_looked_at', 'ds_fault']).executeTakeFirst()
      expect(zone?.ds_fault ?? zone?.ds_looked_at).not.toBeNull()
    },
  },

  'dnssec.plan': {
    async prepare(world) {
      const id = await withSignedZone(world)
      await change(world, (tx) => setDue(tx, id, 1))
      return { input: {}, options: { siteId: null } }
    },
    async done({ api }) {
      const looks = api.database.read.selectFrom('operations').select('id').where('type', '=', 'dnssec.look')
      expect(await looks.where('state', '=', 'queued').execute()).not.toHaveLength(0)
    },
  },
}

export const contract: Contract = { samples, examples, problems, jobs }
