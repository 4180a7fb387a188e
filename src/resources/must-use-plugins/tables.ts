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
  /** File name on the sites; one of an account, whatever its case, among those that are not deleted. */
  slug: string
  existing_sites: Flag
  future_sites: Flag
  /** Of the content that its sites are to have; null until it was fetched and checked once. */
  sha256: string | null
  /** The newest that brings it to sites, or takes it off them. */
  operation_id: number | null
  created_at: number
  /** Gone for people; the row stays until no site has the file any more. */
  deleted_at: number | null
}

/** What a file of the account has held: who finds it on a site knows that Stead has put it there. */
export interface MuPluginContentRow {
  id: Generated<number>
  account_id: number
  slug: string
  sha256: string
  /** Only of what is laid now, and of what is being checked. */
  content: Uint8Array | null
  /** When sites were last told to have it; null: it is being checked. */
  used_at: number | null
}

/** A site that is to have a plugin; of a deleted one: that has it still. */
export interface MuPluginSiteRow {
  plugin_id: number
  site_id: number
}
