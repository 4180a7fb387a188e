import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    domain_checks: DomainCheckRow
    zone_claims: ZoneClaimRow
  }
}

/** What was last seen of a domain from outside. */
export interface DomainCheckRow {
  site_id: number
  host_name: string
  dns_confirmed: Flag
  provisioned: Flag
  healthy: Flag
  /** Why not all of them are 1. */
  reason: string | null
  /** Null: not looked at yet. */
  checked_at: number | null
  due_at: number
}

/** An account has proved that it controls a domain of another one. */
export interface ZoneClaimRow {
  id: Generated<number>
  zone: string
  /** Who claims it. */
  account_id: number
  /** Who had it, and was told. */
  holder_id: number
  /** Gets the host name when the zone moves. */
  site_id: number
  host_name: string
  /** Of the TXT record that was seen. */
  value: string
  moves_at: number
  /** When Stead looks at the record next. */
  due_at: number
}
