import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    zones: ZoneRow
    zone_clock: ZoneClockRow
    zone_changes: ZoneChangeRow
    dns_records: DnsRecordRow
    dns_challenges: DnsChallengeRow
  }
}

export interface ZoneRow {
  id: Generated<number>
  account_id: number
  /** Lower-case A-labels without a dot at the end; unique among zones that are not deleted. */
  name: string
  created_at: number
  updated_at: number
  /** Of the SOA record (RFC 1035 §3.3.13); it only rises. */
  serial: number
  /** Number of its newest change among all zones, in the order of commits. */
  change_seq: number
  /** Rows of deleted zones stay: name servers learn from them that there is nothing to answer any more. */
  deleted_at: number | null
  /** `leaving`: it is signed until nobody remembers that the zone above named a key. */
  dnssec: Generated<'off' | 'on' | 'leaving'>
  /** When its keys are to be looked after next. */
  dnssec_due_at: Generated<number | null>
  /** When the zone above was last asked for the DS records of this one. */
  ds_looked_at: Generated<number | null>
  /** When it last had one of any key. */
  ds_seen_at: Generated<number | null>
  /** Why it could not be asked. */
  ds_fault: Generated<string | null>
}

/** One row: the number of the newest change. */
export interface ZoneClockRow {
  id: number
  seq: number
  /** Raised when all zones are to be taken for new, whatever was known of them. */
  generation: Generated<number>
  /** What settings the zones were answered with. */
  made_with: Generated<string | null>
}

/** What some sets of a zone's records were before a change: a zone's rows follow each other without a gap, up to its serial. */
export interface ZoneChangeRow {
  id: Generated<number>
  zone_id: number
  from_serial: number
  to_serial: number
  /** JSON: `EarlierSet[]`. */
  earlier: string
  bytes: number
}

export interface DnsRecordRow {
  id: Generated<number>
  zone_id: number
  type: 'A' | 'AAAA' | 'CNAME' | 'MX' | 'TXT' | 'SRV' | 'NS' | 'CAA' | 'HTTPS' | 'TLSA' | 'SSHFP'
  /** Lower-case labels before the zone's name; empty: the zone itself. */
  name: string
  /** Names in it have no dot at the end. */
  value: string
  /** The value in the words of its client, where the API would show others. */
  written: Generated<string | null>
  priority: number | null
  weight: number | null
  port: number | null
  /** Seconds. */
  ttl: number
  /** The site that it leads to. */
  site_id: number | null
  created_at: number
}

/** What a certificate authority asks for in a zone while a certificate is ordered; no record of its users. */
export interface DnsChallengeRow {
  /** The name of the certificate. */
  host_name: string
  zone_id: number
  /** As of a record. */
  name: string
  value: string
}
