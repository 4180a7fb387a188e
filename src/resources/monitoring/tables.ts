import type { Generated } from 'kysely'
import type { MonitoringReason } from '../../edge/monitor/finding.ts'

declare module '../../platform/db/schema.ts' {
  interface Schema {
    site_monitoring: SiteMonitoringRow
    site_incidents: SiteIncidentRow
  }
}

/** What a control concludes from the states of all edges. */
export interface SiteMonitoringRow {
  site_id: number
  state: 'up' | 'slow' | 'down' | 'paused' | 'unknown'
  reason: MonitoringReason | null
  detail: string
  since: number
}

/** A time in which a site was down. */
export interface SiteIncidentRow {
  id: Generated<number>
  site_id: number
  reason: MonitoringReason
  detail: string
  began_at: number
  /** Null while the site is down. */
  ended_at: number | null
}
