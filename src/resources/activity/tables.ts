import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    activity: ActivityRow
  }
}

export interface ActivityRow {
  id: Generated<number>
  account_id: number
  site_id: number | null
  action: string
  description: string
  message: string
  source: 'ui' | 'api.v1' | 'systems'
  actor_email: string | null
  ip_address: string | null
  user_agent: string
  created_at: number
}
