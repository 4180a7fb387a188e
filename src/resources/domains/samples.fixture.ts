import { type Example, type Examples, onSite, type Sample, type Scene, unique } from '../../../test/support/samples.ts'
import { zoneIn } from '../dns/samples.fixture.ts'

const name = () => `www.domain-${unique()}.test`

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listDomains', path: onSite('/domains'), roles: [] },
  { endpoint: 'addDomain', path: onSite('/domains'), body: () => ({ name: name() }), status: 201, roles: ['manage_dns'] },
  { endpoint: 'getDomain', path: (world) => onSite(`/domains/${world.record}`)(world), roles: [] },
  { endpoint: 'deleteDomain', path: (world) => onSite(`/domains/${world.record}`)(world), roles: ['manage_dns'] },
  { endpoint: 'setPrimaryDomain', path: (world) => onSite(`/domains/${world.record}/primary`)(world), roles: ['manage_dns'] },
  { endpoint: 'checkDomain', path: (world) => onSite(`/domains/${world.record}/check`)(world), roles: ['manage_dns'] },
]

export const examples: Examples = {
  addDomain: () => ({ body: { name: name() } }),
  getDomain: added,
  deleteDomain: primary,
  setPrimaryDomain: added,
  checkDomain: added,
}

async function added({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  return { params: { id: (await zoneIn(api, { accountId, siteId })).record } }
}

/** Without it nothing would be to be done in the background. */
async function primary({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  return { params: { id: (await zoneIn(api, { accountId, siteId, isPrimary: true })).record } }
}
