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
  /** As its client wrote the value, where that reads otherwise and means the same: see {@link asWritten}. */
  readonly written?: string | null
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
export type RecordDraft = Pick<
  DnsRecord,
  'type' | 'name' | 'value' | 'written' | 'priority' | 'weight' | 'port' | 'ttl' | 'siteId'
>

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
    value: Type.String({
      description: 'As you wrote it. Host names (CNAME, MX, NS, SRV) end with a dot',
      examples: ['192.0.2.1'],
    }),
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
  const { isPrimary, createdAt, value: _value, written, ...rest } = record
  const value = written ?? shownValue(record)
  return { ...rest, primary: isPrimary, value, created: timestamp(createdAt) }
}

const shownValue = ({ type, value }: Pick<DnsRecord, 'type' | 'value'>): string =>
  leadsToName(type) ? `${value}.` : value

/**
 * Returns the words of a client for a record's value, or null where they are what the API shows anyway. Tools compare what they wrote with
 * what they read: cases, quotes and forms of addresses would be differences for ever. The dot after a host name is the API's own.
 */
export function asWritten(record: Pick<DnsRecord, 'type' | 'value'>, given: string | undefined): string | null {
  const text = given?.trim() ?? ''
  // a word for the zone's own name, and no value of a record
  if (text === '' || (leadsToName(record.type) && text === '@')) return null
  const written = leadsToName(record.type) && !text.endsWith('.') ? `${text}.` : text
  return written === shownValue(record) ? null : written
}
