import Type from 'typebox'
import type { Config } from '../../config.ts'
import { defaultPhpVersion, type PhpVersion, phpVersions } from '../../hosting/php/runtime.ts'
import { Problem } from '../../platform/http/problem.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import type { SiteFlags } from '../../site-flags.ts'
import { problems } from './problems.ts'

export const installOptions = ['wordpress', 'woocommerce'] as const
export type Install = (typeof installOptions)[number]
export const environmentTypes = ['local', 'development', 'staging', 'production'] as const
export type EnvironmentType = (typeof environmentTypes)[number]
export type SiteState = 'deploying' | 'cloning' | 'live' | 'disabled'

/** Site as the code sees it. */
export interface Site extends SiteFlags {
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
  /** Milliseconds UTC. */
  readonly defensiveUntil: number | null
  readonly clonedFromId: number | null
  /** Host name of the primary domain. Null stands for the address under the staging domain. */
  readonly primaryDomain: string | null
  /** For a site that could not be created and stays `deploying` or `cloning`: why, and what to do. */
  readonly deployError: string | null
  readonly adminUsername: string
  readonly adminEmail: string
  readonly createdAt: number
}

/** Site with its counts, as one account sees it. */
export interface ListedSite extends Site {
  readonly domainsCount: number
  readonly collaboratorsCount: number
  /** Whether it is a favorite of the requesting account. */
  readonly isFavorite: boolean
  readonly tags: readonly Tag[]
}

/** Tag of one account. */
export interface Tag {
  readonly id: number
  readonly name: string
}

const nameRule = /^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/
const nameFault =
  'may have letters, digits and dashes only, with no dash at the start or the end (no periods, spaces or other characters)'

/** Body of `POST /v1/sites`. */
export const NewSite = Type.Object(
  {
    name: Type.String({
      minLength: 4,
      maxLength: 63,
      pattern: nameRule.source,
      description: nameFault,
      examples: ['my-first-site'],
    }),
    php_version: Type.Optional(
      oneOf(phpVersions, {
        description:
          'Default: the default of the account, or another version if the host does not run that one. The response contains the version',
        examples: [defaultPhpVersion],
      }),
    ),
    datacenter_code: Type.Optional(Type.String()),
    staging: Type.Optional(Type.Boolean({ description: 'Default: false' })),
    install: Type.Optional(oneOf(installOptions)),
    multisite_support: Type.Optional(Type.Boolean({ description: 'Default: false' })),
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
      Type.Integer({ description: 'Account that will own the site. It must allow the caller to create sites' }),
    ),
  },
  { title: 'NewSite' },
)
export type NewSite = Type.Static<typeof NewSite>

/** Returns whether its WordPress is installed, whether or not visitors can reach it. */
export const isInstalled = ({ state }: Pick<Site, 'state'>): boolean => state === 'live' || state === 'disabled'

/** @throws Problem `site_not_live` for a site whose WordPress is not installed yet */
export function requireInstalled(site: Pick<Site, 'state'>): void {
  if (!isInstalled(site)) throw new Problem(problems.site_not_live, { state: site.state })
}

/**
 * Requires that visitors can reach the site, as a link to it needs.
 * @throws Problem `site_not_live`
 */
export function requireLive(site: Pick<Site, 'state'>): void {
  if (site.state !== 'live') throw new Problem(problems.site_not_live, { state: site.state })
}

/**
 * Returns what is wrong with a name, or undefined.
 * @param least characters: 4 on create, 3 for the check before (as documented)
 */
export function nameFaultOf(name: string, least: number): string | undefined {
  if (name.length < least) return `must be at least ${least} characters`
  if (name.length > 63) return 'must be at most 63 characters'
  return nameRule.test(name) ? undefined : nameFault
}

/** Returns the host name of a site's first address, with the port if visitors need it. */
export const stagingAddress = (name: string, config: Config): string => visited(stagingHostName(name, config), config)

/** Returns the host name of a site's primary address, with the port if visitors need it. */
export const siteAddress = ({ name, primaryDomain }: Pick<Site, 'name' | 'primaryDomain'>, config: Config): string =>
  visited(primaryDomain ?? stagingHostName(name, config), config)

/** Returns the port of the sites' https addresses. If TLS ends before the edge, it is the usual one. */
export const httpsPort = ({ edgeTlsListen, edgeTlsPublicPort }: Config): number =>
  edgeTlsPublicPort ?? (edgeTlsListen === 'off' ? 443 : edgeTlsListen.port)

function visited(host: string, config: Config): string {
  const port = config.edgePublicPort ?? config.edgeListen.port
  return port === 80 || port === 443 ? host : `${host}:${port}`
}

/** Removes the port, if any, from an address. */
export const hostOfAddress = (address: string): string => address.replace(/:\d+$/, '')

/**
 * Returns host name and port of an address with scheme, as the site's own database stores it, or `undefined` for an
 * invalid one.
 */
export const hostOfUrl = (url: string): string | undefined => /^https?:\/\/([^/?#\s]+)/i.exec(url)?.[1]?.toLowerCase()

export const stagingHostName = (name: string, config: Config): string => `${name}.${config.stagingDomain}`

/**
 * Returns constants of a site's wp-config.php in addition to those of every site. `null` means that the constant must
 * be absent.
 */
export function siteConstants(site: Site): Record<string, string | boolean | null> {
  return {
    WP_ENVIRONMENT_TYPE: site.environmentType,
    WP_ALLOW_MULTISITE: site.hasMultisite ? true : null,
    // Without it, a network's sites would not share logins. If empty, WordPress uses the host name of the request.
    COOKIE_DOMAIN: site.hasMultisite ? '' : null,
  }
}
