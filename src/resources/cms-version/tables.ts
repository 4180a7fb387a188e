import type { Generated } from 'kysely'
import type { Flag } from '../../platform/db/schema.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    core_releases: CoreReleaseRow
    failed_updates: FailedUpdateRow
  }
}

/** A release of WordPress, as a host has last seen it offered. */
export interface CoreReleaseRow {
  version: string
  kind: 'stable' | 'beta'
  seen_at: number
  /** Of PHP, the least that it needs; null: nobody says. */
  php_version: Generated<string | null>
  /** 1: a source has it; 0: it is on a host, and no source tells of it any more. */
  offered: Generated<Flag>
}

/** The last release that a site could not be brought to. */
export interface FailedUpdateRow {
  site_id: number
  version: string
  /** When Stead tries it again by itself; null: never. */
  again_at: number | null
  failed_at: number
}
