import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    accounts: AccountRow
    applications: ApplicationRow
    account_addons: AccountAddonRow
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
  /** Whether its sites get security releases of WordPress by themselves. */
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
