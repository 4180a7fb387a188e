import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    collaborators: CollaboratorRow
    account_access: AccountAccessRow
  }
}

export interface CollaboratorRow {
  id: Generated<number>
  site_id: number
  account_id: number
  /** The owner of the site. */
  owner_account_id: number
  state: string
  wp_username: string
  /** JSON array of role names. */
  roles: string
  created_at: number
  updated_at: number
}

/** Account-level access: what an owner allows another account beyond single sites. */
export interface AccountAccessRow {
  owner_account_id: number
  account_id: number
  add_to_all_new: Flag
  create_site: Flag
  /** JSON array of role names. */
  roles: string
}
