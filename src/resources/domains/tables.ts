import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    domain_checks: DomainCheckRow
    zone_claims: ZoneClaimRow
  }
}

/** Result of the last check of a domain from outside. */
export interface DomainCheckRow {
  site_id: number
  host_name: string
  dns_confirmed: Flag
  provisioned: Flag
  healthy: Flag
  /** Why not all of them are 1. */
  reason: string | null
  /** Null if it was not checked yet. */
  checked_at: number | null
  /** When its DNS was last confirmed. Null for never. */
  confirmed_at: Generated<number | null>
  due_at: number
}

/** Proof by an account that it controls a domain of another one. */
export interface ZoneClaimRow {
  id: Generated<number>
  zone: string
  /** The account that claims it. */
  account_id: number
  /** The account that had it, and was notified. */
  holder_id: number
  /** The site that gets the host name when the zone moves. */
  site_id: number
  host_name: string
  /** Value of the TXT record that was seen. */
  value: string
  moves_at: number
  /** When Stead checks the record next. */
  due_at: number
}
