import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    sessions: SessionRow
  }
}

/** A session is a token that a browser has in a cookie. It is deleted with its row in `tokens`. */
export interface SessionRow {
  id: Generated<number>
  token_hash: string
  account_id: number
  created_at: number
  seen_at: number
  /** When the person last confirmed the password. */
  proven_at: number
  user_agent: string
  ip_address: string
  /** The origin of the panel where it began: scheme, host name and port. It counts only there. */
  origin: string
}
