import Type from 'typebox'
import type { Config } from '../../../config.ts'
import { defaultPhpVersion } from '../../../hosting/php/runtime.ts'
import { nullable, oneOf, Timestamp, timestamp } from '../../../platform/http/schemas.ts'
import { sftpDomain } from '../../access/service-names.ts'
import { PageViews } from '../../statistics/public.ts'
import { edgeAddresses } from '../addresses/edge-addresses.ts'
import { LicenseSchema } from '../create/site-license.ts'
import { environmentTypes, type ListedSite, type Site, siteAddress } from '../site.ts'
import { SiteStatus } from './site-status.ts'

/* Sites as the API shows them. */

const siteFields = {
  id: Type.Integer(),
  created: Timestamp,
  accountId: Type.Integer(),
  clonedFromId: nullable(Type.Integer({ description: 'Source site of a clone', examples: [null] })),
  collaboratorsCount: Type.Integer({ examples: [1] }),
  datacenterCode: Type.String({ description: 'N/A if not applicable', examples: ['AMS'] }),
  datacenterName: Type.String({ description: 'N/A if not applicable', examples: ['Amsterdam'] }),
  displayName: Type.String({ examples: ['My first site'] }),
  domainsCount: Type.Integer({ examples: [0] }),
  ecommerce: Type.Boolean(),
  edgeCache: oneOf(['enabled', 'disabled']),
  edgeCacheDefensiveMode: Type.Boolean(),
  edgeCacheDefensiveModeUntil: nullable(Type.Integer({ description: 'Unix time', examples: [null] })),
  favorite: Type.Boolean(),
  name: Type.String({ description: 'Unique in this installation', examples: ['my-first-site'] }),
  state: oneOf(['deploying', 'cloning', 'live', 'disabled'], { examples: ['live'] }),
  url: Type.String({
    description: 'Host name without the scheme, with the port if it is not the default',
    examples: ['my-first-site.example.com'],
  }),
  staging: Type.Boolean(),
  sftpDomain: Type.String({ examples: ['sftp.example.com'] }),
  phpVersion: nullable(Type.String({ examples: [defaultPhpVersion] })),
  cmsVersion: Type.String({ description: 'Descriptive text', examples: ['Current Stable Release (6.8.7)'] }),
  tags: Type.Array(Type.Object({ id: Type.Integer(), name: Type.String({ examples: ['shop'] }) }, { title: 'Tag' })),
  wpEnvironmentType: oneOf(environmentTypes, { examples: ['production'] }),
  lightWeight404: Type.Boolean({ examples: [true] }),
  multisiteSupport: Type.Boolean(),
}

const threeAddresses = {
  ipAddress: Type.String({ examples: ['192.0.2.1'] }),
  ipAddressOne: Type.String({ examples: ['192.0.2.1'] }),
  ipAddressTwo: Type.String({ examples: ['192.0.2.2'] }),
}

export const SiteSchema = Type.Object({ ...siteFields, ...threeAddresses }, { title: 'Site' })
/** Site as search and the collaborator's view show it. */
export const SiteWithAddresses = Type.Object(
  { ...siteFields, ipAddresses: Type.Array(Type.String(), { examples: [['192.0.2.1', '192.0.2.2']] }) },
  { title: 'SiteWithAddresses' },
)
export const SiteDetail = Type.Object(
  {
    ...siteFields,
    ...threeAddresses,
    pageViews: PageViews,
    cmsLoginUrl: Type.String({ examples: ['my-first-site.example.com/wp-admin'] }),
    collaborators: Type.Array(
      Type.Object(
        {
          id: Type.Integer(),
          created: Timestamp,
          email: Type.String({ examples: ['colleague@example.com'] }),
          gravatar: Type.String({
            examples: [
              'https://www.gravatar.com/avatar/5c4b03a7e82107cd4b76c5643f0ac6c06499c6bdb270b2b556334891f1907718?d=mp',
            ],
          }),
          name: Type.String({ examples: ['A Colleague'] }),
          wpUsername: Type.String({ examples: ['colleague'] }),
          username: nullable(Type.String({ description: 'SFTP user name', examples: [null] })),
        },
        { title: 'SiteCollaborator' },
      ),
    ),
    ext: LicenseSchema,
  },
  { title: 'SiteDetail' },
)

/** The same schemas with the status, which clients can request. */
const withStatus = { status: Type.Optional(SiteStatus) }
export const ListedSiteSchema = Type.Object({ ...SiteSchema.properties, ...withStatus }, { title: 'ListedSite' })
export const FoundSite = Type.Object({ ...SiteWithAddresses.properties, ...withStatus }, { title: 'FoundSite' })
export const WholeSite = Type.Object({ ...SiteDetail.properties, ...withStatus }, { title: 'WholeSite' })

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
    url: siteAddress(site, config),
    staging: site.isStaging,
    sftpDomain: sftpDomain(config),
    phpVersion: site.phpVersion,
    cmsVersion: cmsVersion(site),
    tags: [...site.tags],
    wpEnvironmentType: site.environmentType,
    lightWeight404: site.hasLight404,
    multisiteSupport: site.hasMultisite,
  }
}

/** Returns the Site object of the API. */
export function presentSite(site: ListedSite, config: Config, now: number): Type.Static<typeof SiteSchema> {
  // The API has fields for two.
  const [ipAddressOne = '', ipAddressTwo = ipAddressOne] = edgeAddresses(config)
  return { ...commonFields(site, config, now), ipAddress: ipAddressOne, ipAddressOne, ipAddressTwo }
}

/** Returns the Site object with `ipAddresses`. */
export function presentSiteWithAddresses(site: ListedSite, config: Config, now: number) {
  return { ...commonFields(site, config, now), ipAddresses: [...edgeAddresses(config)] }
}
