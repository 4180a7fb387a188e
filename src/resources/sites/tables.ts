import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    sites: SiteRow
    site_access: SiteAccessRow
    purge_clock: PurgeClockRow
    cache_purges: CachePurgeRow
  }
}

export interface SiteRow {
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
  multisite: Flag
  light_404: Flag
  edge_cache: Flag
  cdn: Flag
  defensive_until: number | null
  maintenance: Flag
  /** Raised by every purge of all pages. */
  cache_epoch: number
  /** The same for files. */
  cdn_epoch: Generated<number>
  cloned_from_id: number | null
  admin_username: string
  admin_email: string
  /** Address (host and port) that the site's own database holds, to be followed when the staging domain changes. */
  written_address: string | null
  /** Host name of the domain that it is to be reached by; null: its address under the staging domain. */
  primary_domain: Generated<string | null>
  created_at: number
  deleted_at: number | null
  /** When people were last told that its database or directory is lost. */
  lost_at: Generated<number | null>
  /** 1: WordPress starts without plugins and the site's theme. */
  safe_mode: Generated<Flag>
  /** Why it could not be made, and what to do; null while it may still be, and when it was. */
  deploy_error: Generated<string | null>
  /** When its owner was last sent a link to WordPress' recovery mode. */
  recovery_told_at: Generated<number | null>
  /** The operation that works on it, and lets nobody see it meanwhile; it counts as long as that has not ended. */
  closed_by: Generated<number | null>
  /** How often it was closed: its content may be another since. */
  content_changes: Generated<number>
}

/** One row for each account that may see a site: its owner and its collaborators. Lists of sites come from here. */
export interface SiteAccessRow {
  account_id: number
  site_id: number
  /** The site's name, which never changes. */
  site_name: string
  /** 0: a favourite of this account; 1: not. Orders lists. */
  rank: 0 | 1
  is_deleted: Flag
  /** The site's, to sort by. */
  php_version: Generated<string>
  /** What the site takes on the disk as of last night, to sort by. */
  used_bytes: Generated<number>
}

/** One row: the number of the newest purge. */
export interface PurgeClockRow {
  id: number
  seq: number
}

/** Something that edges must let go of. */
export interface CachePurgeRow {
  /** Ascending without gaps, in the order of commits. */
  seq: number
  site_id: number
  /** All pages of lower epochs; null: not all. */
  page_epoch: number | null
  file_epoch: number | null
  /** JSON array of paths of single pages; null: none. */
  paths: string | null
}
