import type { Generated } from 'kysely'

/**
 * The tables, as `migrations/` makes them. Times are milliseconds UTC, booleans 0 or 1, JSON is text that is validated
 * when it is read, `…_sealed` is text sealed under the master key.
 */
export interface Schema {
  accounts: AccountRow
  applications: ApplicationRow
  tokens: TokenRow
  installation: InstallationRow
  hosts: HostRow
  site_homes: SiteHomeRow
  sites: SiteRow
  routes: RouteRow
  route_clock: RouteClockRow
  route_changes: RouteChangeRow
  site_access: SiteAccessRow
  collaborators: CollaboratorRow
  account_access: AccountAccessRow
  tags: TagRow
  site_tags: SiteTagRow
  notes: NoteRow
  account_addons: AccountAddonRow
  activity: ActivityRow
  events: EventRow
  idempotency_keys: IdempotencyKeyRow
  operations: OperationRow
  operation_steps: OperationStepRow
  operation_results: OperationResultRow
  schedules: ScheduleRow
  page_view_days: PageViewDayRow
  visitor_days: VisitorDayRow
  visitors: VisitorRow
  site_statistics: SiteStatisticsRow
  account_statistics: AccountStatisticsRow
  purge_clock: PurgeClockRow
  mail_counts: MailCountRow
  cache_purges: CachePurgeRow
  processes: ProcessRow
}

type Flag = 0 | 1

export interface AccountRow {
  id: Generated<number>
  email: string
  name: string
  organization: string
  phone_number: string
  plan: string
  default_php_version: string
  default_datacenter: string | null
  created_at: number
  affiliate: Generated<Flag>
  preview: Generated<Flag>
}

export interface ApplicationRow {
  id: Generated<number>
  account_id: number
  name: string
  client_id: string
  /** SHA-256 of the secret, which has 256 random bits. */
  secret_hash: string
  is_owner: Flag
  created_at: number
  revoked_at: number | null
}

export interface TokenRow {
  /** SHA-256 of the token. */
  hash: string
  application_id: number
  created_at: number
  expires_at: number
  revoked_at: number | null
}

/** One row: which installation of Stead this database is. */
export interface InstallationRow {
  id: number
  /** Random, never changed; data folders of hosts hold it too. */
  identity: string
  /** What the master key in force derives to; null until a first start with a key. */
  key_mark: string | null
  created_at: number
}

/** A machine (or, embedded, a process) that keeps sites. */
export interface HostRow {
  id: Generated<number>
  /** Stable name of the host; its data folder holds it. */
  name: string
  /** Random, as in the folder's identity file; null for a host that has not started since there are identities. */
  identity: string | null
  /** Raised by each start of the host; one that holds a lower one has been replaced. */
  epoch: Generated<number>
  /** http address at which edges reach it, as it last announced. */
  address: string
  /** Comma-separated codes; empty: all. */
  datacenters: string
  max_sites: number
  /** What the host says of itself: containment, core library, … (JSON). */
  facts: string
  seen_at: number
  /** How many of its sites with an id up to `counted_to` are not deleted; counted anew with each report. */
  counted_sites: Generated<number>
  counted_to: Generated<number>
}

export interface SiteHomeRow {
  id: Generated<number>
  host_id: number
  state: 'making' | 'prepared' | 'taken' | 'leaving'
  core_version: string
  install: string
  site_id: number | null
  created_at: number
  /** When the owner was last told that the site could not write. */
  disk_full_at: Generated<number | null>
}

export interface SiteRow {
  id: Generated<number>
  account_id: number
  /** Lower case, unique among sites that are not deleted. */
  name: string
  display_name: string
  state: 'deploying' | 'cloning' | 'live' | 'disabled'
  staging: Flag
  datacenter_code: string
  host_id: number | null
  php_version: string
  core_version: string | null
  core_channel: 'stable' | 'beta'
  install: string
  environment_type: string
  multisite: Flag
  light_404: Flag
  edge_cache: Flag
  cdn: Flag
  defensive_until: number | null
  maintenance: Flag
  /** Raised by every purge of all pages. */
  cache_epoch: number
  /** The same for files. */
  cdn_epoch: Generated<number>
  cloned_from_id: number | null
  admin_username: string
  admin_email: string
  /** Address (host and port) that the site's own database holds, to be followed when the staging domain changes. */
  written_address: string | null
  created_at: number
  deleted_at: number | null
  /** When people were last told that its database or home is lost. */
  lost_at: Generated<number | null>
}

/** A host name that the edge answers. */
export interface RouteRow {
  host_name: string
  site_id: number
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

/** One row for each account that may see a site: its owner and its collaborators. Lists of sites come from here. */
export interface SiteAccessRow {
  account_id: number
  site_id: number
  /** The site's name, which never changes. */
  site_name: string
  /** 0: a favourite of this account; 1: not. Orders lists. */
  rank: 0 | 1
  is_deleted: Flag
}

/** Account-level access: what an owner lets another account do beyond single sites. */
export interface AccountAccessRow {
  owner_account_id: number
  account_id: number
  add_to_all_new: Flag
  create_site: Flag
  /** JSON array of role names. */
  roles: string
}

/** A tag of one account. */
export interface TagRow {
  id: Generated<number>
  account_id: number
  name: string
}

export interface SiteTagRow {
  tag_id: number
  site_id: number
}

export interface NoteRow {
  id: Generated<number>
  site_id: number
  author: string
  editor: string
  subject: string
  body: string
  created_at: number
  updated_at: number
  /** Of subject and body. */
  size_bytes: Generated<number>
}

/** A mail that an account had sent lately. */
export interface MailCountRow {
  id: Generated<number>
  account_id: number
  /** In lower case. */
  address: string
  /** SHA-256 of subject and text. */
  subject_hash: string
  created_at: number
}

export interface AccountAddonRow {
  account_id: number
  addon_id: number
  quantity: number
}

export interface CollaboratorRow {
  id: Generated<number>
  site_id: number
  account_id: number
  /** Who owns the site. */
  owner_account_id: number
  state: string
  wp_username: string
  /** JSON array of role names. */
  roles: string
  created_at: number
  updated_at: number
}

export interface ActivityRow {
  id: Generated<number>
  account_id: number
  site_id: number | null
  action: string
  description: string
  message: string
  source: 'ui' | 'api.v1' | 'systems'
  actor_email: string | null
  ip_address: string | null
  user_agent: string
  created_at: number
}

/** What webhooks will be told: written with the change, delivered later. */
export interface EventRow {
  id: Generated<number>
  account_id: number
  site_id: number | null
  type: string
  data: string
  created_at: number
}

export interface IdempotencyKeyRow {
  application_id: number
  key: string
  /** SHA-256 of method, path and body. */
  fingerprint: string
  /** Random, anew with each claim: whoever has another one lost the key meanwhile. */
  claim: Generated<string>
  /** Set when the first request is done; sealed, because answers may hold passwords. */
  response_sealed: string | null
  status: number | null
  /** Length of `response_sealed`. */
  size_bytes: Generated<number>
  /** Until then the first request counts as running. */
  locked_until: number
  created_at: number
}

export interface OperationRow {
  id: Generated<number>
  type: string
  /** Which role runs it. */
  runner: 'control' | 'host'
  host_id: number | null
  site_id: number | null
  account_id: number | null
  input: string
  /** Who asked for it (JSON), for the records that its steps write. */
  source: string | null
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled'
  /** Set while undoing is what is left to do: the state that follows. */
  ending: 'failed' | 'canceled' | null
  cancel_requested: Flag
  /** How often a worker has taken it up; never goes back, so that it fences off late writers. */
  attempts: number
  run_at: number
  /** Since when it waits for `run_at` by the database's clock; null: `run_at` is a time that somebody asked for. */
  waits_since: number | null
  lease_owner: string | null
  lease_until: number | null
  error: string | null
  progress: number
  created_at: number
  started_at: number | null
  finished_at: number | null
}

export interface OperationStepRow {
  operation_id: number
  position: number
  name: string
  state: 'pending' | 'running' | 'succeeded' | 'failed' | 'undoing' | 'undone' | 'undo_failed' | 'skipped'
  /** How often the step (or, while undoing, its undo) was started. */
  attempts: number
  result: string | null
  error: string | null
  started_at: number | null
  finished_at: number | null
}

/** What an operation over many sites has done with one of them. */
export interface OperationResultRow {
  operation_id: number
  site_id: number
  outcome: string
  message: string | null
  /** The operation of that site that does the rest. */
  follow_up_id: number | null
}

/** One row: the number of the newest purge. */
export interface PurgeClockRow {
  id: number
  seq: number
}

/** Something that edges must let go of. */
export interface CachePurgeRow {
  /** Ascending without gaps, in the order of commits. */
  seq: number
  site_id: number
  /** All pages of lower epochs; null: not all. */
  page_epoch: number | null
  file_epoch: number | null
  /** JSON array of paths of single pages; null: none. */
  paths: string | null
}

export interface ScheduleRow {
  name: string
  /** The slot (ms) that was enqueued last. */
  last_slot: number
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

/** Sums of a site as the API shows them, as of the last refresh. */
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

/** What a host or an edge process last said of itself. */
export interface ProcessRow {
  /** Made anew at each start. */
  id: string
  part: string
  facts: string
  seen_at: number
}
