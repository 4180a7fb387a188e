import Type from 'typebox'
import type { Config } from '../../config.ts'
import { nullable, oneOf, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import type { RecordInZone } from '../dns/public.ts'
import { edgeAddresses, type Site, stagingHostName } from '../sites/public.ts'
import type { DomainCheck } from './check.store.ts'

/** The address records of one host name that lead to one site. */
export interface Domain {
  /** Lowest id of its records. */
  readonly id: number
  readonly hostName: string
  readonly records: readonly RecordInZone[]
}

/** Id of the site's address under the staging domain, which has no record. */
export const STAGING_ID = -1

export const DomainId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

const fields = {
  id: Type.Integer(),
  created: Timestamp,
  primary: Type.Boolean({
    description: "Whether this is the primary domain, to which the site's other domains redirect",
  }),
  name: nullable(
    Type.String({ description: 'Part before the name of the zone. Null for the zone itself', examples: ['www'] }),
  ),
  healthy: Type.Boolean({ description: 'Whether the domain points to Stead and the edge responds for it' }),
  dnsConfirmed: Type.Boolean({ description: 'Whether the name points only to the addresses of the edge' }),
  provisioned: Type.Boolean({ description: 'Whether the edge knows the domain' }),
  domainName: Type.String({ examples: ['www.example.com'] }),
  ipAddresses: Type.Array(Type.String(), { examples: [['192.0.2.1', '192.0.2.2']] }),
}

export const DomainSchema = Type.Object(fields, { title: 'Domain' })
export const ListedDomain = Type.Object(
  {
    ...fields,
    type: Type.String({ examples: ['ARecord'] }),
    displayType: Type.String({ examples: ['A'] }),
    zoneId: Type.Integer(),
    reason: Type.Optional(
      nullable(
        Type.String({
          description: 'Why it is not healthy, as seen at the last check',
          examples: ['www.example.com has no address in the DNS; it must be one of 192.0.2.1'],
        }),
      ),
    ),
  },
  { title: 'ListedDomain' },
)

/** Query parameter of the list. */
export const includeReason = {
  include: Type.Optional(
    oneOf(['reason'], {
      description: 'An addition of Stead. Adds `reason`: what the DNS answers instead, for example',
    }),
  ),
}

/** Parameter that clients may send in the query or in the body. */
export const separateRecords = {
  separate_records: Type.Optional(Type.Boolean({ description: 'One entry per address, with the id of its record' })),
}

/**
 * Returns the domains that records form, in order of id.
 * @param isSeparate returns each record as its own domain
 */
export function domainsOf(records: readonly RecordInZone[], isSeparate = false): Domain[] {
  const named = records.map((record) => ({ ...record, hostName: hostNameOf(record) }))
  const groups = Map.groupBy(named, ({ id, hostName }) => (isSeparate ? String(id) : hostName))
  return [...groups.values()].map((group) => {
    const [{ id, hostName }] = group as [(typeof named)[number]]
    return { id, hostName, records: group }
  })
}

/** Returns the domain that a record belongs to. */
export const domainWith = (records: readonly RecordInZone[], id: number): Domain | undefined =>
  domainsOf(records).find((domain) => domain.records.some((record) => record.id === id))

export const hostNameOf = ({ name, zoneName }: Pick<RecordInZone, 'name' | 'zoneName'>): string =>
  name === '' ? zoneName : `${name}.${zoneName}`

/** Returns the Domain object of the API. */
export function presentDomain({ id, hostName, records }: Domain, check: DomainCheck | undefined) {
  const [{ name, createdAt, isPrimary }] = records as [RecordInZone]
  return {
    id,
    created: timestamp(createdAt),
    primary: isPrimary,
    name: name === '' ? null : name,
    healthy: check?.isHealthy ?? false,
    dnsConfirmed: check?.isDnsConfirmed ?? false,
    provisioned: check?.isProvisioned ?? false,
    domainName: hostName,
    ipAddresses: records.map(({ value }) => value),
  }
}

/** Returns the Domain object as lists show it. */
export function presentListedDomain(
  domain: Domain,
  check: DomainCheck | undefined,
  include?: 'reason',
): Type.Static<typeof ListedDomain> {
  const [{ type, zoneId }] = domain.records as [RecordInZone]
  const reason = include && { reason: check?.reason ?? null }
  return { ...presentDomain(domain, check), type: `${type}Record`, displayType: type, zoneId, ...reason }
}

/** Returns the address under the staging domain in the form of a domain. */
export function presentStaging(site: Site, config: Config): Type.Static<typeof DomainSchema> {
  return {
    id: STAGING_ID,
    created: timestamp(site.createdAt),
    primary: site.primaryDomain === null,
    name: site.name,
    healthy: true,
    dnsConfirmed: true,
    provisioned: true,
    domainName: stagingHostName(site.name, config),
    ipAddresses: [...edgeAddresses(config)],
  }
}
