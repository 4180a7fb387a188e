import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    login_links: LoginLinkRow
  }
}

export interface LoginLinkRow {
  id: Generated<number>
  site_id: number
  /** The account that created the link. */
  made_by_id: number
  /** The account of the person whom the link logs in. */
  account_id: number
  /** SHA-256 of the token, which has 256 random bits. */
  token_hash: string
  /** Name of the WordPress user. */
  login: string
  /** The exact user agent of the browser that may use it. */
  user_agent: string
  expires_at: number
  used_at: number | null
}
