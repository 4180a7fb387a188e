import type { Generated } from 'kysely'

/**
 * The tables, as `migrations/` makes them. Times are milliseconds UTC, booleans 0 or 1, JSON is text that is validated
 * when it is read, `…_sealed` is text sealed under the master key. These are the platform's own; whoever keeps something else adds its
 * tables to this interface in `tables.ts` of its folder (TypeScript merges the declarations).
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
}

export type Flag = 0 | 1

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

/** An operation that is not begun before another one has ended. */
export interface OperationWaitRow {
  operation_id: number
  for_id: number
}

export interface OperationRow {
  id: Generated<number>
  type: string
  /** Which role runs it. */
  runner: 'control' | 'host'
  host_id: number | null
  site_id: number | null
  account_id: number | null
  /** The account that asked for it; null: Stead itself. */
  asked_by_id: number | null
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
  /** It failed for a reason that another attempt would meet again. */
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
  /** Of a step that moves bytes: how many it has to, and how many of them are done. */
  total_bytes: number | null
  done_bytes: number | null
  /** As last estimated by who runs it. */
  seconds_left: number | null
}

/** What an operation over many sites has done with one of them. */
export interface OperationResultRow {
  operation_id: number
  site_id: number
  /** What of the site; empty: the site as a whole. */
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

/** What a host or an edge process last said of itself. */
export interface ProcessRow {
  /** Made anew at each start. */
  id: string
  part: string
  facts: string
  seen_at: number
}
