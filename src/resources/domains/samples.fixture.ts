import type { TestApi } from '../../../test/support/api.ts'
import {
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  unique,
  type World,
} from '../../../test/support/samples.ts'
import { zoneIn } from '../dns/samples.fixture.ts'
import { insertClaim } from './claim.store.ts'

const name = () => `www.domain-${unique()}.test`

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'listDomains', path: onSite('/domains'), roles: [] },
  { endpoint: 'addDomain', path: onSite('/domains'), body: () => ({ name: name() }), status: 201, roles: ['manage_dns'] },
  { endpoint: 'getDomain', path: (world) => onSite(`/domains/${world.record}`)(world), roles: [] },
  { endpoint: 'deleteDomain', path: (world) => onSite(`/domains/${world.record}`)(world), roles: ['manage_dns'] },
  { endpoint: 'setPrimaryDomain', path: (world) => onSite(`/domains/${world.record}/primary`)(world), roles: ['manage_dns'] },
  { endpoint: 'checkDomain', path: (world) => onSite(`/domains/${world.record}/check`)(world), roles: ['manage_dns'] },
  { endpoint: 'listDomainClaims', path: onSite('/domain-claims'), roles: [], prepare: claimedByOwner },
  { endpoint: 'cancelDomainClaim', path: onSite('/domain-claims/claimed.test'), roles: ['manage_dns'], prepare: claimedByOwner },
]

export const examples: Examples = {
  addDomain: () => ({ body: { name: name() } }),
  getDomain: added,
  deleteDomain: primary,
  setPrimaryDomain: added,
  checkDomain: added,
  listDomainClaims: claimed,
  cancelDomainClaim: claimed,
}

async function claimed({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  const domain = `claimed-${unique()}.test`
  await claimIn(api, { accountId, siteId, domain })
  return { params: { domain } }
}

function claimedByOwner({ owner: { accountId }, site: siteId }: World, api: TestApi): Promise<void> {
  return claimIn(api, { accountId, siteId, domain: 'claimed.test' })
}

/** Creates the record of a claim, without looking for the account that has the domain. */
async function claimIn(
  api: TestApi,
  { accountId, siteId, domain }: { accountId: number; siteId: number; domain: string },
): Promise<void> {
  const claim = {
    zone: domain,
    accountId,
    holderId: accountId,
    siteId,
    hostName: domain,
    value: 'stead-1',
    movesAt: 9e12,
  }
  await api.database.transaction((tx) => insertClaim(tx, claim))
}

async function added({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  return { params: { id: (await zoneIn(api, { accountId, siteId })).record } }
}

/** Primary, because otherwise there would be no background work. */
async function primary({ api, owner: { accountId }, siteId }: Scene): Promise<Example> {
  return { params: { id: (await zoneIn(api, { accountId, siteId, isPrimary: true })).record } }
}
