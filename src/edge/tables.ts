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
    certificates: CertificateRow
    acme_accounts: AcmeAccountRow
    /** Of edges of earlier versions, which have the master key. */
    tls_ticket_keys: TicketKeyRow
    monitoring_edges: MonitoringEdgeRow
    monitoring_states: MonitoringStateRow
    uptime_days: UptimeDayRow
    edge_ticket_keys: TicketKeyRow
  }
}

/** A host name that the edge answers. */
export interface RouteRow {
  host_name: string
  site_id: number
  /** 0: the site's address under the staging domain. */
  is_domain: Generated<Flag>
  /** For people. Edges use `route_changes`. */
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

/** Page views of a site on one UTC day (days since 1970). `people` counts the rows that were new in `visitors`. */
export interface PageViewDayRow {
  site_id: number
  day: number
  views: number
  people: number
}

/** The salt for the hashes of a day's visitors, deleted with them. */
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

/** A host name that wants a certificate, and its state. */
export interface CertificateRow {
  host_name: string
  /** 0: a name of the installation itself. */
  site_id: number
  /** 1: visitors are redirected to https, and browsers told to stay there. */
  force_tls: number
  wanted_at: number
  /** Not processed before. */
  due_at: number
  /** No new request before this time, after a refusal by the authority. */
  not_before: number | null
  /** The operation that works on it, one at a time. */
  operation_id: number | null
  /** In a row, since the last certificate. */
  failures: number
  /** Why the name has no certificate, or no newer one. */
  reason: string | null
  reason_at: number | null
  /** Of the last order, which is pending while `order_key` is set. */
  order_url: string | null
  /** Sealed. It becomes `private_key`. */
  order_key: string | null
  authz_url: string | null
  authz_expires_at: number | null
  challenge_token: string | null
  /** What every edge process answers to the token. */
  challenge_answer: string | null
  /** PEM, the name's own certificate first. */
  chain: string | null
  /** Sealed. */
  private_key: string | null
  /** The same key, sealed for edges that have no master key. Programs before 0119 do not write it. */
  edge_key: string | null
  /** Distinguishes the certificates of the name. */
  issued_at: number | null
  expires_at: number | null
  /** The last mail to its owner: 1: it expires soon, 2: it has expired. */
  told: Generated<number>
}

/** A key that identifies Stead at a certificate authority. */
export interface AcmeAccountRow {
  directory: string
  /** Sealed. */
  private_key: string
  url: string | null
  created_at: number
}

/** An edge that asks all sites once a minute. */
export interface MonitoringEdgeRow {
  edge: string
  /** When it last reported, milliseconds UTC. */
  seen_at: number
}

/** What one edge last found about a site. Written only when it changes. */
export interface MonitoringStateRow {
  site_id: number
  edge: string
  /** The name that it asks for. */
  host_name: string
  state: 'up' | 'slow' | 'down' | 'paused' | 'unknown'
  reason: 'dns' | 'tls' | 'status' | 'php' | 'time' | null
  detail: string
  /** Milliseconds UTC. */
  since: number
  /** 1 until a control has read it. */
  is_new: number
}

/** How often all edges have asked a site on one UTC day (days since 1970), and how often it was slow or down. */
export interface UptimeDayRow {
  site_id: number
  day: number
  asked: number
  slow: number
  failed: number
}

/** What all edge processes seal session tickets with for a period of time. */
export interface TicketKeyRow {
  slot: number
  /** Sealed, base64. */
  ticket_key: string
}
