import Type from 'typebox'
import type { Config, Datacenter } from '../../config.ts'
import { type PhpVersion, phpVersions } from '../../hosting/php/runtime.ts'
import { Problem } from '../../platform/http/problem.ts'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { Usage } from '../account/addons.ts'
import type { Plan } from '../account/plans.ts'
import { problems as accountProblems } from '../account/problems.ts'
import { PageViews } from '../statistics/windows.ts'
import { edgeAddresses } from './edge-addresses.ts'
import { problems } from './problems.ts'

export { raiseCacheEpochs } from './cache-epochs.store.ts'
export { setDefensiveUntil } from './defensive-mode.store.ts'
export { type PurgeOrder, purgeCaches } from './purge.store.ts'
export { ownedSites, type SiteRights, sitesWithRights } from './rights.store.ts'
export { grantSight, withdrawSight } from './sight.store.ts'
export { findSite } from './site.store.ts'
export { type Switchable, switchSetting } from './switches.store.ts'
export {
  countVisibleSites,
  findCollaboration,
  listVisibleSites,
  type VisibleSite,
  visibleSite,
} from './visible-site.store.ts'

export const installOptions = ['wordpress', 'woocommerce'] as const
export type Install = (typeof installOptions)[number]
export const environmentTypes = ['local', 'development', 'staging', 'production'] as const
export type EnvironmentType = (typeof environmentTypes)[number]
export type SiteState = 'deploying' | 'cloning' | 'live' | 'disabled'

/** A site as the code sees it. */
export interface Site {
  readonly id: number
  readonly accountId: number
  readonly name: string
  readonly displayName: string
  readonly state: SiteState
  readonly isStaging: boolean
  readonly datacenterCode: string
  readonly hostId: number | null
  readonly phpVersion: PhpVersion
  /** `null` until the site is installed. */
  readonly coreVersion: string | null
  readonly coreChannel: 'stable' | 'beta'
  readonly install: Install
  readonly environmentType: EnvironmentType
  readonly hasMultisite: boolean
  readonly hasLight404: boolean
  readonly hasEdgeCache: boolean
  readonly hasCdn: boolean
  /** Milliseconds UTC. */
  readonly defensiveUntil: number | null
  readonly isInMaintenance: boolean
  readonly clonedFromId: number | null
  readonly adminUsername: string
  readonly adminEmail: string
  readonly createdAt: number
}

/** A site with what is counted for it, as one account sees it. */
export interface ListedSite extends Site {
  readonly domainsCount: number
  readonly collaboratorsCount: number
  /** Of the account that looks. */
  readonly isFavorite: boolean
  readonly tags: readonly Tag[]
}

/** A tag of one account. */
export interface Tag {
  readonly id: number
  readonly name: string
}

const siteFields = {
  id: Type.Integer(),
  created: Timestamp,
  accountId: Type.Integer(),
  clonedFromId: nullable(Type.Integer({ description: 'Source site of a clone' })),
  collaboratorsCount: Type.Integer(),
  datacenterCode: Type.String({ description: 'N/A when not applicable' }),
  datacenterName: Type.String({ description: 'N/A when not applicable' }),
  displayName: Type.String(),
  domainsCount: Type.Integer(),
  ecommerce: Type.Boolean(),
  edgeCache: oneOf(['enabled', 'disabled']),
  edgeCacheDefensiveMode: Type.Boolean(),
  edgeCacheDefensiveModeUntil: nullable(Type.Integer({ description: 'Unix time' })),
  favorite: Type.Boolean(),
  name: Type.String({ description: 'Unique in the whole service' }),
  state: oneOf(['deploying', 'cloning', 'live', 'disabled']),
  url: Type.String({ description: 'Host name, with the port when it is not the usual one; no scheme' }),
  staging: Type.Boolean(),
  sftpDomain: Type.String(),
  phpVersion: nullable(Type.String()),
  cmsVersion: Type.String({ description: 'Descriptive text' }),
  tags: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String() })),
  wpEnvironmentType: oneOf(environmentTypes),
  lightWeight404: Type.Boolean(),
  multisiteSupport: Type.Boolean(),
}

const threeAddresses = { ipAddress: Type.String(), ipAddressOne: Type.String(), ipAddressTwo: Type.String() }

export const SiteSchema = Type.Object({ ...siteFields, ...threeAddresses }, { title: 'Site' })
/** As search and the collaborator's view show a site. */
export const SiteWithAddresses = Type.Object(
  { ...siteFields, ipAddresses: Type.Array(Type.String()) },
  { title: 'SiteWithAddresses' },
)
export const SiteDetail = Type.Object(
  {
    ...siteFields,
    ...threeAddresses,
    pageViews: PageViews,
    cmsLoginUrl: Type.String(),
    collaborators: Type.Array(
      Type.Object({
        id: Type.Integer(),
        created: Timestamp,
        email: Type.String(),
        gravatar: Type.String(),
        name: Type.String(),
        wpUsername: Type.String(),
        username: nullable(Type.String({ description: 'SFTP user name' })),
      }),
    ),
    ext: nullable(Type.Object({ id: Type.Integer(), siteId: Type.Integer(), licenseKey: Type.String() })),
  },
  { title: 'SiteDetail' },
)

const nameRule = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const nameFault =
  'may have letters, digits and dashes only, with no dash at the start or the end (no periods, spaces or other characters)'

/** Body of `POST /v1/sites`. */
export const NewSite = Type.Object(
  {
    name: Type.String({ minLength: 4, maxLength: 63, pattern: nameRule.source, description: nameFault }),
    php_version: Type.Optional(oneOf(phpVersions, { description: "The account's default when absent" })),
    datacenter_code: Type.Optional(Type.String()),
    staging: Type.Optional(Type.Boolean({ default: false })),
    install: Type.Optional(oneOf(installOptions)),
    multisite_support: Type.Optional(Type.Boolean({ default: false })),
    wp_admin_username: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'may have letters, digits, _ and - only',
      }),
    ),
    wp_admin_email: Type.Optional(Type.String({ format: 'email', maxLength: 100 })),
    account_id: Type.Optional(
      Type.Integer({ description: 'The account that will own the site, when it lets the caller create sites for it' }),
    ),
  },
  { title: 'NewSite' },
)
export type NewSite = Type.Static<typeof NewSite>

/** Names under the staging domain that belong to the service, or that visitors would take for it. */
const reservedNames = new Set(
  [
    'www',
    'api',
    'mail',
    'admin',
    'root',
    'smtp',
    'imap',
    'sftp',
    'ftp',
    'ns1',
    'ns2',
    'dns',
    'edge',
    'host',
    'panel',
  ].concat([
    'status',
    'support',
    'help',
    'docs',
    'blog',
    'test',
    'login',
    'webmail',
    'autodiscover',
    'autoconfig',
    'stead',
  ]),
)

/** Its WordPress is there, be it for visitors or not. */
export const isInstalled = ({ state }: Pick<Site, 'state'>): boolean => state === 'live' || state === 'disabled'

/** @throws Problem `site_not_live` for a site whose WordPress is not there yet */
export function demandInstalled(site: Pick<Site, 'state'>): void {
  if (!isInstalled(site)) throw new Problem(problems.site_not_live, { state: site.state })
}

export const isReservedName = (name: string): boolean => reservedNames.has(name)

/** What is wrong with a name, or nothing. @param least characters: 4 on create, 3 for the check before (as documented) */
export function nameFaultOf(name: string, least: number): string | undefined {
  if (name.length < least) return `must be at least ${least} characters`
  if (name.length > 63) return 'must be at most 63 characters'
  return nameRule.test(name) ? undefined : nameFault
}

/** @throws Problem `site_limit_reached` when there are more sites of this kind than the plan allows */
export function checkCapacity(plan: Plan, usage: Usage, isStaging: boolean): void {
  const [used, limit] = isStaging ? [usage.staging, plan.maxStaging] : [usage.billable, plan.maxBillable]
  if (used > limit)
    throw new Problem(problems.site_limit_reached, { plan: plan.name, limit, kind: isStaging ? 'staging' : 'live' })
}

/** A host with the datacenters that it serves (`[]`: all) and the room that it has. */
export interface HostRoom {
  readonly id: number
  readonly datacenters: readonly string[]
  /** At least so many; exactly when it is full, or one of several. */
  readonly freeSites: number
}

/**
 * Decides where a site goes: the asked datacenter, else the account's default, else the one with most room, else the first.
 * @throws Problem `unknown_datacenter`, `no_host`
 */
export function choosePlace(
  asked: string | undefined,
  accountDefault: string | null,
  datacenters: readonly Datacenter[],
  hosts: readonly HostRoom[],
): { datacenterCode: string; hostId: number } {
  const codes = datacenters.map(({ code }) => code)
  if (asked !== undefined && !codes.includes(asked))
    throw new Problem(accountProblems.unknown_datacenter, { codes: codes.join(', ') })
  const preferred = asked ?? (accountDefault && codes.includes(accountDefault) ? accountDefault : undefined)
  const places = (preferred ? [preferred] : codes).flatMap((datacenterCode) =>
    hosts
      .filter((host) => host.datacenters.length === 0 || host.datacenters.includes(datacenterCode))
      .map((host) => ({ datacenterCode, hostId: host.id, free: host.freeSites })),
  )
  const best = places.reduce((left, right) => (right.free > left.free ? right : left), places[0] as (typeof places)[0])
  if (!best || best.free <= 0) throw new Problem(problems.no_host, { datacenter: preferred ?? codes.join(', ') })
  return best
}

/** Host name and, where visitors need it, port of a site's first address. */
export function stagingAddress(name: string, config: Config): string {
  const port = config.edgePublicPort ?? config.edgeListen.port
  const host = stagingHostName(name, config)
  return port === 80 || port === 443 ? host : `${host}:${port}`
}

/** The host name of an address that may have a port. */
export const hostOfAddress = (address: string): string => address.replace(/:\d+$/, '')

export const stagingHostName = (name: string, config: Config): string => `${name}.${config.stagingDomain}`

function cmsVersion({ coreVersion, coreChannel }: Site): string {
  const label = coreChannel === 'beta' ? 'Latest Release (Beta)' : 'Current Stable Release'
  return coreVersion ? `${label} (${coreVersion})` : label
}

function commonFields(site: ListedSite, config: Config, now: number): Type.Static<Type.TObject<typeof siteFields>> {
  const datacenter = config.datacenters.find(({ code }) => code === site.datacenterCode)
  const defensive = site.defensiveUntil !== null && site.defensiveUntil > now
  return {
    id: site.id,
    created: timestamp(site.createdAt),
    accountId: site.accountId,
    clonedFromId: site.clonedFromId,
    collaboratorsCount: site.collaboratorsCount,
    datacenterCode: site.datacenterCode,
    datacenterName: datacenter?.name ?? 'N/A',
    displayName: site.displayName,
    domainsCount: site.domainsCount,
    ecommerce: site.install === 'woocommerce',
    edgeCache: site.hasEdgeCache ? 'enabled' : 'disabled',
    edgeCacheDefensiveMode: defensive,
    edgeCacheDefensiveModeUntil: defensive ? Math.floor((site.defensiveUntil as number) / 1000) : null,
    favorite: site.isFavorite,
    name: site.name,
    state: site.state,
    url: stagingAddress(site.name, config),
    staging: site.isStaging,
    sftpDomain: `sftp.${config.stagingDomain}`,
    phpVersion: site.phpVersion,
    cmsVersion: cmsVersion(site),
    tags: [...site.tags],
    wpEnvironmentType: site.environmentType,
    lightWeight404: site.hasLight404,
    multisiteSupport: site.hasMultisite,
  }
}

/** The Site object of the API. */
export function presentSite(site: ListedSite, config: Config, now: number): Type.Static<typeof SiteSchema> {
  const [ipAddressOne, ipAddressTwo] = edgeAddresses(config)
  return { ...commonFields(site, config, now), ipAddress: ipAddressOne, ipAddressOne, ipAddressTwo }
}

/** The Site object with `ipAddresses`. */
export function presentSiteWithAddresses(site: ListedSite, config: Config, now: number) {
  return { ...commonFields(site, config, now), ipAddresses: [...new Set(edgeAddresses(config))] }
}

/** Constants of a site's wp-config.php besides those that every site has; `null`: must not be there. */
export function siteConstants(site: Site): Record<string, string | boolean | null> {
  return {
    WP_ENVIRONMENT_TYPE: site.environmentType,
    WP_ALLOW_MULTISITE: site.hasMultisite ? true : null,
    // without it a network's sites would share no login; empty lets WordPress take the host name of the request
    COOKIE_DOMAIN: site.hasMultisite ? '' : null,
  }
}
