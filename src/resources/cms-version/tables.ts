declare module '../../platform/db/schema.ts' {
  interface Schema {
    core_releases: CoreReleaseRow
  }
}

/** A release of WordPress, as a host has last seen it offered. */
export interface CoreReleaseRow {
  version: string
  kind: 'stable' | 'beta'
  seen_at: number
}
