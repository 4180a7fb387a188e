import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    events: EventRow
  }
}

/** What webhooks will be told: written with the change, delivered later. */
export interface EventRow {
  id: Generated<number>
  account_id: number
  site_id: number | null
  type: string
  data: string
  created_at: number
}
