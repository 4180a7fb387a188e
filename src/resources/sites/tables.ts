import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'
import type { FlagColumn } from '../../site-flags.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    sites: SiteRow
    site_access: SiteAccessRow
    purge_clock: PurgeClockRow
    cache_purges: CachePurgeRow
  }
}

/** The switches of a site: see `site-flags.ts`. */
type FlagColumns = { [Column in FlagColumn]: Generated<Flag> }

export interface SiteRow extends FlagColumns {
  id: Generated<number>
  account_id: number
  /** Lower case, unique among sites that are not deleted. */
  name: string
  display_name: string
  state: 'deploying' | 'cloning' | 'live' | 'disabled'
  staging: Flag
  datacenter_code: string
  host_id: number | null
  php_version: string
  core_version: string | null
  core_channel: 'stable' | 'beta'
  install: string
  environment_type: string
  defensive_until: number | null
  /** Increased by every purge of all pages. */
  cache_epoch: number
  /** The same for files. */
  cdn_epoch: Generated<number>
  cloned_from_id: number | null
  admin_username: string
  admin_email: string
  /** Address (host and port) in the site's own database, which must follow changes of the staging domain. */
  written_address: string | null
  /** Host name of the primary domain. Null stands for the address under the staging domain. */
  primary_domain: Generated<string | null>
  created_at: number
  deleted_at: number | null
  /** When the loss of its database or directory was last reported. */
  lost_at: Generated<number | null>
  /** Why it could not be created, and what to do. Null while it is being created, and afterwards. */
  deploy_error: Generated<string | null>
  /** When its owner was last sent a link to WordPress' recovery mode. */
  recovery_told_at: Generated<number | null>
  /** The operation that works on it and keeps visitors out. It counts only until that operation ends. */
  closed_by: Generated<number | null>
  /** How often it was closed. Its content may have changed each time. */
  content_changes: Generated<number>
}

/** One row for each account that may see a site: its owner and its collaborators. Lists of sites come from here. */
export interface SiteAccessRow {
  account_id: number
  site_id: number
  /** The site's name, which never changes. */
  site_name: string
  /** 0 for a favorite of this account, 1 for others. Orders lists. */
  rank: 0 | 1
  is_deleted: Flag
  /** The site's PHP version, to sort by. */
  php_version: Generated<string>
  /** The site's storage use as of last night, to sort by. */
  used_bytes: Generated<number>
}

/** A single row with the number of the newest purge. */
export interface PurgeClockRow {
  id: number
  seq: number
}

/** Content that edges must remove. */
export interface CachePurgeRow {
  /** Ascending without gaps, in the order of commits. */
  seq: number
  site_id: number
  /** Purges all pages of lower epochs. Null if not all. */
  page_epoch: number | null
  file_epoch: number | null
  /** JSON array of paths of single pages, or null for none. */
  paths: string | null
}
