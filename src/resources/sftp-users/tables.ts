import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    sftp_users: SftpUserRow
    sftp_keys: SftpKeyRow
  }
}

export interface SftpUserRow {
  id: Generated<number>
  site_id: number
  account_id: number
  /** Unique in the installation, never changed. */
  username: string
  /** Null if no password was set, or its setter lost the role. */
  password_hash: Generated<string | null>
  /** The account that set the password. */
  password_by: Generated<number | null>
  /** Raised to end open connections. */
  epoch: Generated<number>
  created_at: number
  modified_at: number
  accessed_at: Generated<number | null>
}

export interface SftpKeyRow {
  id: Generated<number>
  site_id: number
  user_id: number
  /** The account that added the key. */
  added_by: number
  name: string
  type: string
  /** `SHA256:…` */
  fingerprint: string
  /** Base64, as in `authorized_keys`. */
  public_key: string
  created_at: number
}
