import type { Schema } from '../../platform/db/schema.ts'

type Columns<Table extends keyof Schema> = readonly (keyof Schema[Table] & string)[]

/** What the logins of a role may do with a table. Everything else is refused. */
export interface TableRule<Column extends string = string> {
  readonly read?: readonly Column[] | 'all'
  readonly insert?: readonly Column[] | 'all'
  readonly update?: readonly Column[] | 'all'
  readonly delete?: true
  /** SQL that is true for the rows that a login may see. Without it: all rows. */
  readonly rows?: string
  /** SQL that is true for the rows that it may change or delete. Default: `rows`. */
  readonly changes?: string
  /** SQL that must be true of rows after a change. Default: `changes`. */
  readonly results?: string
  /** SQL that must be true of new rows. Default: `results`. */
  readonly inserted?: string
}

/** Rules by table. The schema has neither those of the log store, which exist only on PostgreSQL, nor the migrator's. */
export type RoleRules = { readonly [Table in keyof Schema]?: TableRule<Columns<Table>[number]> } & {
  readonly log_server?: TableRule
  readonly log_php?: TableRule
  readonly log_shares?: TableRule
  readonly kysely_migration?: TableRule
}

/** What each login needs to find out that it may start. */
export const startRights = {
  kysely_migration: { read: ['name'] },
  installation: { read: ['id', 'identity', 'key_mark'] },
  role_authorities: { read: ['number', 'certificate', 'signs_at', 'expires_at'] },
  role_certificates: { read: ['serial', 'revoked_at', 'expires_at'] },
  control_addresses: { read: 'all' },
} as const satisfies RoleRules

/**
 * An edge reads routes, certificates and purges, and adds counts. It serves the visitors of all sites, so it has the
 * keys of all certificates, sealed for edges. Edges of earlier versions read `private_key` and `tls_ticket_keys`, which
 * are sealed under the master key. An upgrade must not end them.
 */
export const edgeRights: RoleRules = {
  ...startRights,
  hosts: { read: ['id', 'name', 'address', 'identity', 'epoch', 'seen_at'] },
  // Routes.
  routes: { read: ['host_name', 'site_id', 'is_domain'] },
  sites: {
    read: [
      ...['id', 'account_id', 'host_id', 'state', 'deploy_error', 'deleted_at', 'closed_by'],
      ...['environment_type', 'primary_domain', 'written_address', 'cache_epoch', 'cdn_epoch', 'defensive_until'],
      ...['edge_cache', 'cdn', 'maintenance'],
    ] as Columns<'sites'>,
  },
  accounts: { read: ['id', 'suspended_at'] },
  site_homes: { read: ['id', 'site_id'] },
  operations: { read: ['id', 'type', 'finished_at'] },
  route_clock: { read: ['id', 'seq'] },
  route_changes: { read: ['seq', 'host_name', 'host_id'] },
  // Certificates and sessions of visitors.
  certificates: {
    read: [
      ...['host_name', 'chain', 'private_key', 'edge_key', 'issued_at', 'expires_at', 'due_at', 'force_tls'],
      ...['challenge_token', 'challenge_answer'],
    ] as Columns<'certificates'>,
  },
  edge_ticket_keys: { read: 'all', insert: 'all', delete: true },
  tls_ticket_keys: { read: 'all', insert: 'all', delete: true },
  // Purges.
  purge_clock: { read: ['id', 'seq'] },
  cache_purges: { read: 'all' },
  // Counts.
  visitor_days: { read: 'all', insert: 'all' },
  visitors: { read: ['day', 'site_id'], insert: 'all' },
  page_view_days: { read: 'all', insert: 'all', update: ['views', 'people'] },
  monitoring_edges: { read: 'all', insert: 'all', update: ['seen_at'] },
  monitoring_states: {
    ...{ read: 'all', insert: 'all' },
    update: ['host_name', 'state', 'reason', 'detail', 'since', 'is_new'],
  },
  uptime_days: { read: 'all', insert: 'all', update: ['asked', 'slow', 'failed'] },
  log_server: { read: ['site_id', 'at', 'id'], insert: 'all' },
  log_shares: { read: 'all', insert: 'all', update: ['bytes', 'dropped', 'noticed_at'] },
  // A row without a certificate would let anyone connect to hosts without TLS.
  processes: {
    ...{ read: ['id', 'part', 'seen_at', 'certificate_serial'], insert: 'all', delete: true },
    update: ['facts', 'seen_at', 'certificate_serial'],
    rows: `part = 'edge' and certificate_serial in (select stead_own_serials())`,
  },
}
