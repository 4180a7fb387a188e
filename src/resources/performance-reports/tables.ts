import type { Generated } from 'kysely'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    performance_reports: PerformanceReportRow
    performance_attempts: PerformanceAttemptRow
  }
}

export interface PerformanceReportRow {
  id: Generated<number>
  site_id: number
  /** JSON: `Measured`. */
  desktop: string
  mobile: string
  /** JPEG, Base64; null: the page gave none. */
  desktop_thumbnail: string | null
  mobile_thumbnail: string | null
  created_at: number
}

/** When a report of a site was last ordered by itself, whatever came of it. */
export interface PerformanceAttemptRow {
  site_id: number
  attempted_at: number
}
