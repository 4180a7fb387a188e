import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    site_statistics: SiteStatisticsRow
    account_statistics: AccountStatisticsRow
  }
}

/** Sums of a site at the last refresh, as the API shows them. */
export interface SiteStatisticsRow {
  site_id: number
  /** JSON: window → [people, views]. */
  page_views: string
  database_bytes: Generated<number>
  file_bytes: Generated<number>
  refreshed_at: number
}

export interface AccountStatisticsRow {
  account_id: number
  page_views: string
  refreshed_at: number
}
