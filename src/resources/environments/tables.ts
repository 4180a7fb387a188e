declare module '../../platform/db/schema.ts' {
  interface Schema {
    site_environments: SiteEnvironmentRow
  }
}

/** The link of an environment to its live site. It stays while one of the two is in the trash. */
export interface SiteEnvironmentRow {
  /** The environment. */
  site_id: number
  live_site_id: number
  linked_at: number
  /** When the environment was copied from the live site. Null if Stead does not know it. */
  copied_at: number | null
  /** The databases of both have everything that was in them at this moment. Null if unknown. */
  level_at: number | null
  /** `level_at` before the last sync, which may be undone. */
  level_before: number | null
  /** That sync. */
  level_operation_id: number | null
}
