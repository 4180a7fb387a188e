import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    core_releases: CoreReleaseRow
    failed_updates: FailedUpdateRow
  }
}

/** WordPress release, as a host last saw it offered. */
export interface CoreReleaseRow {
  version: string
  kind: 'stable' | 'beta'
  seen_at: number
  /** Minimum PHP version, or null if unknown. */
  php_version: Generated<string | null>
  /** 1 if a source offers it. 0 if it is on a host, but no source lists it any longer. */
  offered: Generated<Flag>
}

/** The last release that a site could not be updated to. */
export interface FailedUpdateRow {
  site_id: number
  version: string
  /** When Stead retries it automatically, or null for never. */
  again_at: number | null
  failed_at: number
}
