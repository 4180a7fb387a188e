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
  /** JPEG in Base64, or null if the page gave none. */
  desktop_thumbnail: string | null
  mobile_thumbnail: string | null
  created_at: number
}

/** When the last automatic report of a site was started, whatever its result. */
export interface PerformanceAttemptRow {
  site_id: number
  attempted_at: number
}
