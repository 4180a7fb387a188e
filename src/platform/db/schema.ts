import type { Generated } from 'kysely'

/**
 * The tables that `migrations/` creates. Times are milliseconds UTC, booleans are 0 or 1, JSON is text that is
 * validated when it is read, and `…_sealed` is text sealed under the master key. These are the platform's own tables.
 * Other folders add theirs to this interface in their `tables.ts` (TypeScript merges the declarations).
 */
export interface Schema {
  idempotency_keys: IdempotencyKeyRow
  operations: OperationRow
  operation_steps: OperationStepRow
  operation_results: OperationResultRow
  operation_waits: OperationWaitRow
  schedules: ScheduleRow
  mail_counts: MailCountRow
  processes: ProcessRow
  role_logins: RoleLoginRow
}

export type Flag = 0 | 1

/** A mail that was recently sent for an account. */
export interface MailCountRow {
  id: Generated<number>
  account_id: number
  /** The address in lower case. */
  address: string
  /** The SHA-256 of subject and text. */
  subject_hash: string
  created_at: number
}

export interface IdempotencyKeyRow {
  application_id: number
  key: string
  /** The SHA-256 of method, path and body. */
  fingerprint: string
  /** A random name, new with each claim. A request with another name has lost the key in the meantime. */
  claim: Generated<string>
  /** Set when the first request is done. Sealed, because answers may contain passwords. */
  response_sealed: string | null
  status: number | null
  /** The length of `response_sealed`. */
  size_bytes: Generated<number>
  /** The first request counts as running until then. */
  locked_until: number
  created_at: number
}

/** An operation that does not begin before another one has ended. */
export interface OperationWaitRow {
  operation_id: number
  for_id: number
}

export interface OperationRow {
  id: Generated<number>
  type: string
  /** The role that runs it. */
  runner: 'control' | 'host'
  host_id: number | null
  site_id: number | null
  account_id: number | null
  /** The account that requested it, or null for Stead itself. */
  asked_by_id: number | null
  input: string
  /** The origin of the request (JSON), for the records that its steps write. */
  source: string | null
  state: 'queued' | 'running' | 'succeeded' | 'failed' | 'canceled'
  /** Set while only the undo remains: the state that follows. */
  ending: 'failed' | 'canceled' | null
  /** 2: it yields to another operation of its site. */
  cancel_requested: Flag | 2
  /** When a person paused it. Its steps begin no more work until it is continued. */
  paused_at: number | null
  /** How often a worker has taken it up. It never decreases, so that it fences off late writers. */
  attempts: number
  run_at: number
  /** When its wait for `run_at` began, by the database's clock. Null if `run_at` was requested explicitly. */
  waits_since: number | null
  lease_owner: string | null
  lease_until: number | null
  error: string | null
  /** Whether it failed for a reason that would make another attempt fail too. */
  is_permanent: Generated<Flag>
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
  /** For a step that moves bytes: the total, and how many are done. */
  total_bytes: number | null
  done_bytes: number | null
  /** The worker's last estimate. */
  seconds_left: number | null
}

/** The result of an operation over many sites for one of them. */
export interface OperationResultRow {
  operation_id: number
  site_id: number
  /** The thing of the site, or empty for the site as a whole. */
  subject: string
  outcome: string
  message: string | null
  /** The operation of that site that does the rest. */
  follow_up_id: number | null
}

export interface ScheduleRow {
  name: string
  /** The slot (ms) that was enqueued last. */
  last_slot: number
}

/** The last report of a host or an edge process. */
export interface ProcessRow {
  /** A new id at each start. */
  id: string
  part: string
  facts: string
  seen_at: number
  /** Of its certificate for connections to other machines. Null without one, and for versions that know none. */
  certificate_serial: string | null
}

/** A login of PostgreSQL that belongs to one machine, with the rights of its role. */
export interface RoleLoginRow {
  /** The name of the login on the server. */
  login: string
  role: string
  name: string
  created_at: number
}
