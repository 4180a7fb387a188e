import type { Generated } from 'kysely'
import type { Flag } from '../platform/db/schema.ts'

declare module '../platform/db/schema.ts' {
  interface Schema {
    routes: RouteRow
    route_clock: RouteClockRow
    route_changes: RouteChangeRow
    page_view_days: PageViewDayRow
    visitor_days: VisitorDayRow
    visitors: VisitorRow
  }
}

/** A host name that the edge answers. */
export interface RouteRow {
  host_name: string
  site_id: number
  /** 0: the site's address under the staging domain. */
  is_domain: Generated<Flag>
  /** For people: edges go by `route_changes`. */
  changed_at: number
}

/** One row: the number of the newest change of routes. */
export interface RouteClockRow {
  id: number
  seq: number
}

/** What edges have to read again: a host name, or the address of a host. */
export interface RouteChangeRow {
  /** Ascending without gaps, in the order of commits. */
  seq: number
  host_name: string | null
  host_id: number | null
}

/** Page views of a site on one UTC day (days since 1970); `people` counts the rows that were new in `visitors`. */
export interface PageViewDayRow {
  site_id: number
  day: number
  views: number
  people: number
}

/** What the hashes of a day's visitors are salted with; forgotten with them. */
export interface VisitorDayRow {
  day: number
  salt: string
}

export interface VisitorRow {
  day: number
  site_id: number
  /** Salted hash of address and user agent. */
  visitor: string
}
