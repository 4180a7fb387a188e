import { expect } from 'vitest'
import type { TestApi } from '../../../test/support/api.ts'
import type { Contract, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { change, rows } from '../../../test/support/job-worlds.ts'
import {
  type Example,
  type Examples,
  onSite,
  type Sample,
  type Scene,
  unique,
  type World,
} from '../../../test/support/samples.ts'
import { fillDomains, inOwnZone, siteIs, takeHostName, write } from '../../../test/support/scenes.ts'
import { zoneIn } from '../dns/dns.fixture.ts'
import { putRoute } from '../sites/addresses/route.store.ts'
import { expectCheck } from './check.store.ts'
import { insertClaim } from './claim.store.ts'
import { MOST_CLAIMS } from './claim.ts'

function fillClaims(scene: Scene): Promise<unknown> {
  const { owner, friend, siteId } = scene
  const of = {
    accountId: owner.accountId,
    holderId: friend.accountId,
    siteId,
    hostName: 'a',
    value: 'a',
    movesAt: 1e15,
  }
  return write(scene, async (tx) => {
    for (let at = 0; at < MOST_CLAIMS; at++) await insertClaim(tx, { ...of, zone: `claim-${at}.test` })
  })
}

const claimedZone = ({ site }: JobWorld) => `claimed-${site}.test`

async function withDomain({ api, site }: JobWorld): Promise<string> {
  const name = `www.of-${site}.test`
  await api.database.transaction(async (tx) => {
    await putRoute(tx, site, name, 1, true)
    await expectCheck(tx, site, name, 1)
  })
  return name
}

/** Nothing answers there, which is a valid result. */
async function looked({ api, site }: JobWorld): Promise<void> {
  const checks = api.database.read.selectFrom('domain_checks').selectAll().where('site_id', '=', site)
  const check = await checks.executeTakeFirst()
  const reason = expect.stringContaining('cannot be looked up in the DNS')
  expect(check).toMatchObject({ host_name: `www.of-${site}.test`, healthy: 0, reason })
  expect(check?.checked_at).toBeGreaterThan(0)
}

const name = () => `www.domain-${unique()}.test`

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

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listDomains', path: onSite('/domains'), roles: [] },
  { endpoint: 'addDomain', path: onSite('/domains'), body: () => ({ name: name() }), status: 201, roles: ['manage_dns'] },
  { endpoint: 'getDomain', path: (world) => onSite(`/domains/${world.record}`)(world), roles: [] },
  { endpoint: 'deleteDomain', path: (world) => onSite(`/domains/${world.record}`)(world), roles: ['manage_dns'] },
  { endpoint: 'setPrimaryDomain', path: (world) => onSite(`/domains/${world.record}/primary`)(world), roles: ['manage_dns'] },
  { endpoint: 'checkDomain', path: (world) => onSite(`/domains/${world.record}/check`)(world), roles: ['manage_dns'] },
  { endpoint: 'listDomainClaims', path: onSite('/domain-claims'), roles: [], prepare: claimedByOwner },
  { endpoint: 'cancelDomainClaim', path: onSite('/domain-claims/claimed.test'), roles: ['manage_dns'], prepare: claimedByOwner },
]

const examples: Examples = {
  addDomain: () => ({ body: { name: name() } }),
  getDomain: added,
  deleteDomain: primary,
  setPrimaryDomain: added,
  checkDomain: added,
  listDomainClaims: claimed,
  cancelDomainClaim: claimed,
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['addDomain'], code: 'domain_exists', prepare: (scene) => scene.owner.call('POST', `/v1/sites/${scene.siteId}/domains`, { name: `www.scene-${scene.number}.test` }), example: ({ number }) => ({ body: { name: `www.scene-${number}.test` } }) },
  { of: ['addDomain'], code: 'domain_elsewhere', example: async (scene) => { await inOwnZone(scene, {}, { name: 'elsewhere', type: 'CNAME' }); return { body: { name: `elsewhere.scene-${scene.number}.test` } } } },
  { of: ['addDomain'], code: 'host_name_taken', example: ({ number }) => ({ body: { name: `taken.scene-${number}.test` } }), prepare: takeHostName },
  { of: ['addDomain'], code: 'reserved_name', example: () => ({ body: { name: 'www.ns1.localhost' } }) },
  { of: ['addDomain'], code: 'staging_domain_name', example: ({ number }) => ({ body: { name: `any.scene-${number}.localhost` } }) },
  { of: ['addDomain'], code: 'staging_site_domains', prepare: siteIs({ staging: 1 }) },
  { of: ['addDomain'], code: 'zone_of_other_account', example: async (scene) => { await inOwnZone({ ...scene, owner: scene.friend }, {}); return { body: { name: `a.scene-${scene.number}.test` } } } },
  { of: ['addDomain'], code: 'domain_limit_reached', prepare: fillDomains },
  { of: ['addDomain'], code: 'claim_limit_reached', prepare: fillClaims, example: async (scene) => { await inOwnZone({ ...scene, owner: scene.friend }, {}); return { body: { name: `a.scene-${scene.number}.test` } } } },
  { of: ['setPrimaryDomain'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
]

const events: Contract['events'] = {
  addDomain: ['domain_added'],
  deleteDomain: ['domain_removed'],
  setPrimaryDomain: ['primary_domain_set'],
  cancelDomainClaim: ['domain_claim_ended', 'domain_claim_ended'],
}

const causes: Contract['causes'] = {
  domain_claimed: { cause: 'addDomain', seenIn: 'src/resources/domains/claims.test.ts' },
  domain_claim_ended: { cause: 'domains.settle_claims', seenIn: 'src/resources/domains/claims.test.ts' },
}

const jobs: Record<string, JobSample> = {
  'domain.check': {
    async prepare(world) {
      const hostName = await withDomain(world)
      return { input: { siteId: world.site, hostName }, options: { siteId: null } }
    },
    done: looked,
  },

  'domains.check': {
    async prepare(world) {
      await withDomain(world)
      return { input: {}, options: { siteId: null } }
    },
    done: looked,
  },

  'domains.settle_claims': {
    async prepare(world) {
      const { api, owner, mate, site } = world
      const claim = {
        accountId: owner.accountId,
        holderId: mate.accountId,
        siteId: site,
        hostName: `www.${claimedZone(world)}`,
      }
      await change(world, (tx) => insertClaim(tx, { ...claim, zone: claimedZone(world), value: 'a', movesAt: 1 }))
      // Nothing answers there, and the claim has waited long enough.
      expect(api.config.resolvers).toEqual(['127.0.0.1:9'])
      return { input: {}, options: { siteId: null } }
    },
    async done(world) {
      const { read } = world.api.database
      expect(await read.selectFrom('zone_claims').selectAll().where('zone', '=', claimedZone(world)).execute()).toEqual(
        [],
      )
      expect(await rows(world, 'activity', 'action', 'domain.claim_ended', world.site)).toBe(1)
    },
  },
}

export const contract: Contract = { samples, examples, problems, events, causes, jobs }
