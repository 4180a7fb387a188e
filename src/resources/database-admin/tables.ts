import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    database_admin_links: DatabaseAdminLinkRow
  }
}

export interface DatabaseAdminLinkRow {
  id: Generated<number>
  site_id: number
  /** The account that the link was created for. */
  account_id: number
  /** SHA-256 of the token, which has 256 random bits. */
  token_hash: string
  expires_at: number
  /** SHA-256 of the token of the session that the first opening started. */
  session_hash: string | null
  /** The user agent of the browser that opened it. */
  user_agent: string | null
  ends_at: number | null
}
