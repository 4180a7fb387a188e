import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../../platform/http/schemas.ts'

/* DNS records as the API shows them. */

export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'NS', 'CAA', 'HTTPS', 'TLSA', 'SSHFP'] as const
export type RecordType = (typeof recordTypes)[number]

export interface DnsRecord {
  readonly id: number
  readonly zoneId: number
  readonly type: RecordType
  /** Labels before the zone's name; empty: the zone itself. */
  readonly name: string
  /** Names in it have no dot at the end. */
  readonly value: string
  readonly priority: number | null
  readonly weight: number | null
  readonly port: number | null
  /** Seconds. */
  readonly ttl: number
  readonly siteId: number | null
  readonly createdAt: number
  /** It leads to a site by the domain that is the site's primary one. */
  readonly isPrimary: boolean
}

/** What a new record is to say. */
export type RecordDraft = Pick<DnsRecord, 'type' | 'name' | 'value' | 'priority' | 'weight' | 'port' | 'ttl' | 'siteId'>

export const MOST_RECORDS = 2000

/** Its value is the name of a host. */
export const leadsToName = (type: RecordType): boolean => ['CNAME', 'MX', 'NS', 'SRV'].includes(type)

export const ZoneId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const RecordId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const RecordSchema = Type.Object(
  {
    id: Type.Integer(),
    zoneId: Type.Integer(),
    primary: Type.Boolean({ description: 'Whether a site uses the zone for its primary domain' }),
    type: Type.String({ examples: ['A'] }),
    name: Type.String({
      description: 'Part before the name of the zone. Empty for the zone itself',
      examples: ['www'],
    }),
    value: Type.String({ examples: ['192.0.2.1'] }),
    priority: nullable(Type.Integer({ examples: [null] })),
    weight: nullable(Type.Integer({ examples: [null] })),
    port: nullable(Type.Integer({ examples: [null] })),
    ttl: Type.Integer({ description: 'Seconds', examples: [3600] }),
    siteId: nullable(Type.Integer({ description: 'Id of the site that the record points to' })),
    created: Timestamp,
  },
  { title: 'DnsRecord' },
)

/** The DNS record object of the API. */
export function presentRecord(record: DnsRecord): Type.Static<typeof RecordSchema> {
  const { isPrimary, createdAt, value, ...rest } = record
  const shown = leadsToName(record.type) ? `${value}.` : value
  return { ...rest, primary: isPrimary, value: shown, created: timestamp(createdAt) }
}
