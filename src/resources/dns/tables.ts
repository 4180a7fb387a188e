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
  /** Lower-case A-labels without a final dot. Unique among zones that are not deleted. */
  name: string
  created_at: number
  updated_at: number
  /** Serial of the SOA record (RFC 1035 §3.3.13). It only increases. */
  serial: number
  /** Number of its newest change among all zones, in the order of commits. */
  change_seq: number
  /** Rows of deleted zones stay. They tell name servers to stop answering for the zone. */
  deleted_at: number | null
  /** `leaving`: it stays signed until no resolver still caches that the parent zone named a key. */
  dnssec: Generated<'off' | 'on' | 'leaving'>
  /** When its keys must next be checked. */
  dnssec_due_at: Generated<number | null>
  /** When the parent zone was last queried for the DS records of this one. */
  ds_looked_at: Generated<number | null>
  /** When it last had one of any key. */
  ds_seen_at: Generated<number | null>
  /** Why it could not be queried. */
  ds_fault: Generated<string | null>
}

/** A single row with the number of the newest change. */
export interface ZoneClockRow {
  id: number
  seq: number
  /** Increased when servers must treat all zones as new. */
  generation: Generated<number>
  /** The settings that the zones were served with. */
  made_with: Generated<string | null>
}

/**
 * Earlier content of some record sets of a zone, before a change. A zone's rows follow each other without a gap, up to
 * its serial.
 */
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
  /** Lower-case labels before the zone's name. Empty for the zone itself. */
  name: string
  /** Names in it have no final dot. */
  value: string
  /** The value in the client's notation, if the API would show another. */
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

/** A record that a certificate authority queries during an order. It is not a record of a user. */
export interface DnsChallengeRow {
  /** The name of the certificate. */
  host_name: string
  zone_id: number
  /** As in a record. */
  name: string
  value: string
}
