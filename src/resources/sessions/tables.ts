import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    sessions: SessionRow
  }
}

/** A session is a token that a browser holds in a cookie: it goes with its row in `tokens`. */
export interface SessionRow {
  id: Generated<number>
  token_hash: string
  account_id: number
  created_at: number
  seen_at: number
  /** When the person last showed the password. */
  proven_at: number
  user_agent: string
  ip_address: string
  /** Of the panel where it began: scheme, host name and port. It counts nowhere else. */
  origin: string
}
