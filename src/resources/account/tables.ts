import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    accounts: AccountRow
    applications: ApplicationRow
    account_addons: AccountAddonRow
    account_removals: AccountRemovalRow
  }
}

export interface AccountRow {
  id: Generated<number>
  email: string
  name: string
  organization: string
  phone_number: string
  plan: string
  default_php_version: string
  default_datacenter: string | null
  created_at: number
  affiliate: Generated<Flag>
  preview: Generated<Flag>
  /** Whether links may log people in to WordPress on its sites. */
  one_time_login: Generated<Flag>
  /** Whether its sites get security releases of WordPress automatically. */
  automatic_updates: Generated<Flag>
  /** When the operator suspended it; null: it is not suspended. */
  suspended_at: Generated<number | null>
}

export interface ApplicationRow {
  id: Generated<number>
  account_id: number
  name: string
  client_id: string
  /** SHA-256 of the secret, which has 256 random bits. */
  secret_hash: string
  is_owner: Flag
  created_at: number
  revoked_at: number | null
}

export interface AccountAddonRow {
  account_id: number
  addon_id: number
  quantity: number
}

/** The removal of an account by the operator. It goes with its account, or when it is canceled. */
export interface AccountRemovalRow {
  id: Generated<number>
  account_id: number
  /** The operation that removes it. Null only in the transaction that requests it. */
  operation_id: number | null
  /** Whether the account was suspended before, and stays so if the removal is canceled. */
  was_suspended: Flag
  asked_at: number
  /** Until then it can be canceled. */
  due_at: number
  /** When the deletion began. From then on it cannot be canceled. */
  begun_at: number | null
}
