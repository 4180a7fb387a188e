import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    mu_plugins: MuPluginRow
    mu_plugin_contents: MuPluginContentRow
    mu_plugin_sites: MuPluginSiteRow
  }
}

export interface MuPluginRow {
  id: Generated<number>
  account_id: number
  path: string
  /** File name on the sites. Unique in an account, ignoring case, among those that are not deleted. */
  slug: string
  existing_sites: Flag
  future_sites: Flag
  /** Hash of the content that its sites should have. Null until it was fetched and checked once. */
  sha256: string | null
  /** The newest operation that installs or removes it on sites. */
  operation_id: number | null
  created_at: number
  /** When it was deleted. The row stays until no site has the file any longer. */
  deleted_at: number | null
}

/** Earlier content of a file of the account, with which Stead recognizes its own files on a site. */
export interface MuPluginContentRow {
  id: Generated<number>
  account_id: number
  slug: string
  sha256: string
  /** Only for current content, and for content that is being checked. */
  content: Uint8Array | null
  /** When sites last started to use it. Null while it is being checked. */
  used_at: number | null
}

/** Site that should have a plugin or, for a deleted one, still has it. */
export interface MuPluginSiteRow {
  plugin_id: number
  site_id: number
}
