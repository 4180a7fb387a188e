import type { Schema } from '../../platform/db/schema.ts'
import { operationRows, ownAccount, ownHost, ownOperation, ownSite, seenSite } from './host-rows.ts'
import { type RoleRules, startRights, type TableRule } from './rules.ts'

/**
 * A host reads and changes what belongs to its own sites, in the rows of `host-rows.ts`. So most rules name whole rows.
 * Hosts of earlier versions keep their login during an upgrade: a rule may only go when none needs it.
 */

/** Rows of a site that hosts work with. */
const ofSite = {
  ...{ read: 'all', insert: 'all', update: 'all', delete: true },
  ...{ rows: seenSite, changes: ownSite },
} as const satisfies TableRule

/** Rows of a site that hosts only delete together with it. */
const forgotten = { read: ['site_id'], delete: true, rows: ownSite } as const satisfies TableRule

/** Rows of an account with a site on the host. */
const ofAccount = { rows: ownAccount } as const satisfies TableRule

/** Rows that follow those of another table that a login sees. */
const following = (table: keyof Schema, condition: string) => ({
  rows: `exists (select from ${table} where ${condition})`,
})

/** Numbers for what edges read again. */
const clock = { read: 'all', update: ['seq'] } as const satisfies TableRule

export const hostRights: RoleRules = {
  ...startRights,
  // Hosts. A row names the machine that its login belongs to, and where edges reach it.
  hosts: {
    ...{ read: 'all', changes: 'name = (select stead_own_name())' },
    insert: ['name', 'address', 'datacenters', 'identity', 'epoch', 'max_sites', 'facts', 'seen_at'],
    update: [
      'address',
      'datacenters',
      'identity',
      'epoch',
      'max_sites',
      'facts',
      'seen_at',
      'counted_sites',
      'counted_to',
    ],
  },
  site_homes: {
    ...{ read: 'all', delete: true },
    // Not its number, which the next one of another host could need.
    insert: ['host_id', 'state', 'core_version', 'install', 'database', 'site_id', 'created_at'],
    update: ['state', 'core_version', 'install', 'database', 'site_id', 'disk_full_at'],
    rows: `host_id = ${ownHost} or ${seenSite} or (site_id is null and stead_moves_to(host_id))`,
    changes: `host_id = ${ownHost} or ${ownSite} or (site_id is null and stead_moves_to(host_id))`,
    // A copy on the host that a site moves to has no site until it is level.
    results: `(host_id = ${ownHost} or (site_id is null and stead_moves_to(host_id)) or ${ownSite})
      and (site_id is null or ${ownSite})`,
  },
  processes: {
    read: ['id', 'part', 'seen_at', 'certificate_serial'],
    ...{ insert: 'all', update: ['facts', 'seen_at', 'certificate_serial'], delete: true },
    changes: `part = 'host'`,
  },
  // Sites.
  sites: {
    read: 'all',
    update: [
      ...['state', 'host_id', 'php_version', 'core_version', 'core_channel', 'install', 'environment_type'],
      ...['multisite', 'light_404', 'edge_cache', 'cdn', 'defensive_until', 'maintenance', 'cache_epoch', 'cdn_epoch'],
      ...['admin_username', 'admin_email', 'written_address', 'deleted_at', 'lost_at', 'safe_mode'],
      ...['recovery_told_at', 'deploy_error', 'closed_by', 'content_changes', 'primary_domain'],
    ] as (keyof Schema['sites'] & string)[],
    ...{ rows: `host_id = ${ownHost} or stead_seen_site(id)`, changes: `host_id = ${ownHost} or stead_own_site(id)` },
  },
  site_access: {
    ...{ read: 'all', update: ['php_version', 'used_bytes', 'is_deleted'], delete: true },
    ...{ rows: seenSite, changes: ownSite },
  },
  site_statistics: ofSite,
  site_extensions: ofSite,
  site_faults: ofSite,
  plugin_lists: ofSite,
  failed_updates: ofSite,
  performance_reports: ofSite,
  performance_attempts: ofSite,
  safe_updates: ofSite,
  safe_update_pictures: {
    ...{ read: 'all', insert: 'all', update: 'all', delete: true },
    ...following('safe_updates', 'safe_updates.operation_id = safe_update_pictures.operation_id'),
  },
  safe_update_settings: { read: 'all', delete: true, rows: ownSite },
  // What became of the update of a site, among those of others that one operation updates.
  safe_update_batch_sites: {
    ...{ read: ['site_id', 'update_id'], update: ['state', 'reason'], delete: true },
    rows: ownSite,
  },
  undone_updates: ofSite,
  site_update_policies: forgotten,
  update_turns: forgotten,
  // A sync on the host of one site notes what both have in common.
  site_environments: {
    ...{ read: 'all', update: ['copied_at', 'level_at', 'level_before', 'level_operation_id'], delete: true },
    rows: `(${seenSite} or stead_seen_site(live_site_id))`,
    changes: `(${ownSite} or stead_own_site(live_site_id))`,
  },
  imports: { read: 'all', update: 'all', delete: true, rows: ownSite },
  extension_licenses: { read: 'all', delete: true, rows: ownSite },
  alerts: ofSite,
  alert_notices: { read: ['alert_id'], delete: true, ...following('alerts', 'alerts.id = alert_id') },
  alert_mutes: forgotten,
  notes: forgotten,
  login_links: forgotten,
  database_admin_links: forgotten,
  domain_checks: forgotten,
  zone_claims: forgotten,
  webhook_sites: forgotten,
  monitoring_states: forgotten,
  uptime_days: forgotten,
  site_monitoring: forgotten,
  site_incidents: forgotten,
  page_view_days: forgotten,
  client_reports: forgotten,
  client_report_days: forgotten,
  client_report_settings: forgotten,
  client_report_mails: forgotten,
  certificates: { read: ['host_name', 'site_id'], delete: true, rows: ownSite },
  // Names of other sites tell which requests of a site stay inside.
  routes: {
    ...{ read: 'all', insert: 'all', update: ['site_id', 'changed_at', 'is_domain'], delete: true },
    ...{ rows: 'true', changes: ownSite },
    // A control adds domains.
    inserted: `${ownSite} and is_domain = 0
      and starts_with(host_name, (select name || '.' from sites where sites.id = site_id))`,
  },
  sftp_users: {
    ...{ read: 'all', update: ['epoch', 'accessed_at'], delete: true, rows: ownSite },
  },
  sftp_keys: { read: 'all', delete: true, rows: ownSite },
  // Backups.
  backups: ofSite,
  backup_schedules: ofSite,
  // Which copy of the installation may change the storage. The first that needs it chooses it.
  backup_key: { read: ['id', 'holder'], update: ['holder'], changes: 'holder is null', rows: 'true', results: 'true' },
  archive_lengths: {
    ...{ read: 'all', insert: 'all', update: 'all', delete: true },
    ...following('backups', 'backups.id = backup_id'),
  },
  // Operations.
  operations: {
    read: 'all',
    insert: [
      ...['type', 'runner', 'host_id', 'site_id', 'account_id', 'asked_by_id', 'input', 'source', 'state', 'ending'],
      ...['cancel_requested', 'attempts', 'run_at', 'waits_since', 'lease_owner', 'lease_until', 'error', 'progress'],
      ...['created_at', 'started_at', 'finished_at'],
    ] as (keyof Schema['operations'] & string)[],
    update: [
      ...['host_id', 'state', 'ending', 'cancel_requested', 'attempts', 'run_at', 'waits_since', 'lease_owner'],
      ...['lease_until', 'error', 'is_permanent', 'progress', 'started_at', 'finished_at'],
    ] as (keyof Schema['operations'] & string)[],
    ...{
      rows: operationRows.seen,
      changes: operationRows.changed,
      results: operationRows.result,
      inserted: operationRows.inserted,
    },
  },
  operation_steps: { read: 'all', insert: 'all', update: 'all', rows: ownOperation },
  operation_waits: {
    ...{ read: 'all', insert: 'all', rows: ownOperation },
    // A host sees the operations that its own wait for, so it must see them before.
    inserted: `${ownOperation} and exists (select from operations where operations.id = for_id)`,
  },
  operation_results: {
    ...{ read: 'all', insert: 'all', update: 'all', delete: true },
    ...{ rows: `${ownOperation} or ${ownSite}` },
  },
  plugin_changes: { read: 'all', insert: 'all', delete: true, rows: ownOperation },
  // Accounts.
  accounts: {
    // An account is only locked. That needs the right to update a column.
    ...{ read: 'all', update: ['created_at'], rows: 'stead_own_account(id)', results: 'false' },
  },
  account_access: { read: 'all', rows: 'stead_own_account(owner_account_id)' },
  collaborators: {
    ...{ read: 'all', update: ['state', 'wp_username', 'updated_at'], delete: true },
    ...{ rows: `${seenSite} or stead_own_account(owner_account_id)`, changes: ownSite },
  },
  tags: { read: 'all', delete: true, ...ofAccount },
  site_tags: {
    ...{ read: 'all', update: ['is_deleted'], delete: true },
    ...{ ...following('tags', 'tags.id = tag_id'), changes: ownSite },
  },
  search_words: {
    ...{ read: 'all', insert: 'all', delete: true },
    rows: `case kind when 'site' then stead_own_site(about_id) else stead_own_account(about_id) end`,
  },
  extension_counts: { read: 'all', insert: 'all', update: 'all', delete: true, ...ofAccount },
  mail_counts: { read: 'all', insert: 'all', delete: true, ...ofAccount },
  mu_plugins: { read: 'all', update: ['sha256'], delete: true, ...ofAccount },
  mu_plugin_contents: { read: 'all', insert: 'all', update: ['content', 'used_at'], delete: true, ...ofAccount },
  mu_plugin_sites: {
    ...{ read: 'all', insert: 'all', update: ['site_id'], delete: true },
    ...following('mu_plugins', 'mu_plugins.id = plugin_id'),
  },
  // Records of deleted sites. A zone without records goes.
  zones: {
    ...{ read: 'all', update: ['updated_at', 'serial', 'change_seq', 'deleted_at'], ...ofAccount },
    results: `${ownAccount} and (deleted_at is null or not exists (select from dns_records where zone_id = zones.id))`,
  },
  dns_records: {
    ...{ read: 'all', delete: true, ...following('zones', 'zones.id = zone_id'), changes: ownSite },
  },
  dns_challenges: { read: 'all', ...following('zones', 'zones.id = zone_id') },
  zone_changes: { read: 'all', insert: 'all', delete: true, ...following('zones', 'zones.id = zone_id') },
  zone_clock: { read: ['id', 'seq'], update: ['seq'] },
  // What others learn of changes.
  activity: {
    insert: [
      ...['account_id', 'site_id', 'action', 'description', 'message', 'source', 'actor_email', 'ip_address'],
      ...['user_agent', 'created_at'],
    ] as (keyof Schema['activity'] & string)[],
    rows: `case when site_id is null then ${ownAccount} else ${ownSite} end`,
  },
  events: {
    ...{
      read: ['id', 'seq'],
      insert: ['account_id', 'site_id', 'type', 'data', 'created_at', 'mark'],
      update: ['seq'],
    },
    rows: `case when site_id is null then ${ownAccount} else ${ownSite} end`,
  },
  event_clock: clock,
  route_clock: clock,
  route_changes: { read: 'all', insert: 'all', delete: true },
  purge_clock: clock,
  cache_purges: { read: 'all', insert: 'all', delete: true, results: ownSite },
  core_releases: { read: 'all', insert: 'all', update: 'all', delete: true },
  log_php: { read: ['site_id', 'at', 'id'], insert: 'all', update: ['body'], rows: ownSite },
  log_shares: { read: 'all', insert: 'all', update: ['bytes', 'dropped', 'noticed_at'], changes: ownSite },
}

/** The numbers of new rows, which a host compares with those of its data folder. It cannot change them. */
export const hostSequences: readonly string[] = ['site_homes_id_seq', 'sites_id_seq', 'operations_id_seq']
