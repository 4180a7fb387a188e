import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    database_admin_links: DatabaseAdminLinkRow
  }
}

export interface DatabaseAdminLinkRow {
  id: Generated<number>
  site_id: number
  /** For whom it was made. */
  account_id: number
  /** SHA-256 of the token, which has 256 random bits. */
  token_hash: string
  expires_at: number
  /** Of the session that the first opening has begun; the same kind of hash. */
  session_hash: string | null
  /** Of the browser that has opened it. */
  user_agent: string | null
  ends_at: number | null
}
