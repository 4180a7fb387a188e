import type { Example, Examples, Sample, Scene, World } from '../../../test/support/samples.ts'
import { zoneIn } from '../dns/samples.fixture.ts'
import { addKey, setDnssec } from './key.store.ts'

const inZone = (rest: string) => (world: World) => `/v1/zones/${world.zone}${rest}`

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getDnssec', path: inZone('/dnssec'), roles: ['manage_dns'] },
  { endpoint: 'changeDnssec', path: inZone('/dnssec'), body: () => ({ enabled: true }), roles: ['manage_dns'] },
  { endpoint: 'rollDnssecKey', path: inZone('/dnssec/keys'), status: 201, roles: ['manage_dns'], prepare: (world, api) => signZone(api, world.zone) },
]

export const examples: Examples = {
  getDnssec: signed,
  changeDnssec: async (scene) => ({ ...(await unsigned(scene)), body: { enabled: true } }),
  rollDnssecKey: signed,
}

export async function unsigned({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  const { zone } = await zoneIn(api, { accountId, siteId })
  return { params: { zone_id: zone } }
}

async function signed(scene: Scene): Promise<Example> {
  const example = await unsigned(scene)
  await signZone(scene.api, example.params?.zone_id as number)
  return example
}

/** A zone whose key is changing. */
export async function rolling(scene: Scene): Promise<Example> {
  const example = await signed(scene)
  const { database, sealer } = scene.api
  const zone = example.params?.zone_id as number
  await database.transaction((tx) => addKey(tx, zone, { state: 'published', now: 1, sealer }))
  return example
}

/** Signs a zone as `PUT` does. The zone then has one key. */
export async function signZone({ database, sealer }: Scene['api'], zone: number): Promise<void> {
  await database.transaction(async (tx) => {
    await setDnssec(tx, zone, 'off', null)
    await addKey(tx, zone, { state: 'active', now: 1, sealer })
    await setDnssec(tx, zone, 'on', Date.now() + 3600_000)
  })
}
