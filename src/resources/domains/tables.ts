import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    domain_checks: DomainCheckRow
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
