import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../../platform/http/schemas.ts'

/* DNS records as the API shows them. */

export const recordTypes = ['A', 'AAAA', 'CNAME', 'MX', 'TXT', 'SRV', 'NS', 'CAA', 'HTTPS', 'TLSA', 'SSHFP'] as const
export type RecordType = (typeof recordTypes)[number]

export interface DnsRecord {
  readonly id: number
  readonly zoneId: number
  readonly type: RecordType
  /** Labels before the zone's name. Empty for the zone itself. */
  readonly name: string
  /** Names in it have no final dot. */
  readonly value: string
  /**
   * The value as its client wrote it, if that differs from the stored form and means the same: see {@link asWritten}.
   */
  readonly written?: string | null
  readonly priority: number | null
  readonly weight: number | null
  readonly port: number | null
  /** Seconds. */
  readonly ttl: number
  readonly siteId: number | null
  readonly createdAt: number
  /** Whether it leads to a site by the site's primary domain. */
  readonly isPrimary: boolean
}

/** Content of a new record. */
export type RecordDraft = Pick<
  DnsRecord,
  'type' | 'name' | 'value' | 'written' | 'priority' | 'weight' | 'port' | 'ttl' | 'siteId'
>

export const MOST_RECORDS = 2000

/** Returns whether the value is a host name. */
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

/** Returns the DNS record object of the API. */
export function presentRecord(record: DnsRecord): Type.Static<typeof RecordSchema> {
  const { isPrimary, createdAt, value: _value, written, ...rest } = record
  const value = written ?? shownValue(record)
  return { ...rest, primary: isPrimary, value, created: timestamp(createdAt) }
}

const shownValue = ({ type, value }: Pick<DnsRecord, 'type' | 'value'>): string =>
  leadsToName(type) ? `${value}.` : value

/**
 * Returns a client's notation of a record's value, or null if it equals what the API shows. Tools compare what they
 * wrote with what they read, so letter case, quotes and address forms would differ forever. The API adds the dot after
 * a host name.
 */
export function asWritten(record: Pick<DnsRecord, 'type' | 'value'>, given: string | undefined): string | null {
  const text = given?.trim() ?? ''
  // An alias for the zone's own name, not the value of a record.
  if (text === '' || (leadsToName(record.type) && text === '@')) return null
  const written = leadsToName(record.type) && !text.endsWith('.') ? `${text}.` : text
  return written === shownValue(record) ? null : written
}
