declare module '../../platform/db/schema.ts' {
  interface Schema {
    client_reports: ClientReportRow
    client_report_days: ClientReportDayRow
    client_report_clock: ClientReportClockRow
    client_report_settings: ClientReportSettingsRow
    client_report_mails: ClientReportMailRow
  }
}

/** The report of a month that has ended. */
export interface ClientReportRow {
  site_id: number
  /** See `Month`. */
  month: number
  /** JSON: `ReportContents`. */
  contents: string
  created_at: number
}

/** What happened to a site on one UTC day (days since 1970). Days on which nothing happened have no row. */
export interface ClientReportDayRow {
  site_id: number
  day: number
  /** Backups of files, and of databases. */
  files: number
  databases: number
  /** Test restores that succeeded, and that failed. */
  proven: number
  not_proven: number
  /** JSON: `ReportedChange[]`. */
  changes: string
}

/** One row: the first and the last day that were counted. */
export interface ClientReportClockRow {
  id: 1
  first_day: number
  last_day: number
}

export interface ClientReportSettingsRow {
  site_id: number
  /** JSON: addresses in lower case. */
  recipients: string
  /** The last month whose mails were all requested. See `Month`. */
  sent_month: number
  updated_at: number
}

/** A mail with a report. It exists from the moment that it is requested, so that nobody requests it again. */
export interface ClientReportMailRow {
  site_id: number
  month: number
  address: string
  requested_at: number
  sent_at: number | null
  /** Why it was not sent. */
  fault: string | null
}
