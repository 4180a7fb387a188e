import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely'
import type { Tx } from '../db/database.ts'
import { precompiled } from '../db/precompiled.ts'
import { type RowsAsked, rowsOfPage } from '../db/rows-of-page.ts'
import type { OperationRow, OperationStepRow, Schema } from '../db/schema.ts'
import { HOUR_MS } from '../durations.ts'
import type { StoredOperation } from './worker/lease.ts'

/** An operation as its clients see it. Times are milliseconds UTC. */
export interface OperationView {
  readonly id: number
  readonly type: string
  readonly siteId: number | null
  readonly accountId: number | null
  /** The account that requested it, or null for Stead itself. */
  readonly askedById: number | null
  readonly state: OperationRow['state']
  /** Whether a cancel was requested. */
  readonly cancelRequested: boolean
  /** When a person paused it, unless it has ended. */
  readonly pausedAt: number | null
  readonly isCancelable: boolean
  readonly isRetryable: boolean
  /** 0 to 100. */
  readonly progress: number
  readonly steps: readonly OperationStepView[]
  /** How often a worker has taken it up. */
  readonly attempts: number
  /** The error that made it fail, or while it is queued, the error of its last attempt. */
  readonly error: string | null
  /** Whether another attempt would fail for the same reason. */
  readonly isPermanent: boolean
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
}

export interface OperationStepView {
  readonly name: string
  readonly state: OperationStepRow['state']
  readonly startedAt: number | null
  readonly finishedAt: number | null
  readonly error: string | null
  /** The `warning` of its result, which clients should see although the step is done. */
  readonly warning: string | null
  /** Set for a step that moves bytes. */
  readonly bytes: { readonly done: number; readonly total: number } | null
  /** The estimated time until the step is done. Set only while it runs. */
  readonly secondsLeft: number | null
}

/** Returns whether the operation has not ended and is not being undone already. */
export const isCancelable = ({ finished_at, ending }: Pick<OperationRow, 'finished_at' | 'ending'>): boolean =>
  finished_at === null && ending === null

export const isRetryable = ({ state }: Pick<OperationRow, 'state'>): boolean =>
  state === 'failed' || state === 'canceled'

/** Selects the operations that the caller may see. The resource above decides. */
export type Visible = (eb: ExpressionBuilder<Schema, 'operations'>) => Expression<SqlBool>

export interface OperationFilter {
  readonly siteId?: number | undefined
  readonly state?: OperationRow['state'] | undefined
  readonly type?: string | undefined
  /** Shows everything by default. */
  readonly visible?: Visible | undefined
}

/** @returns the operation, or undefined if none with this id is visible */
export async function findOperation(tx: Tx, id: number, visible?: Visible): Promise<OperationView | undefined> {
  let query = tx.selectFrom('operations').selectAll().where('id', '=', id)
  if (visible) query = query.where(visible)
  const [found] = await withSteps(tx, await query.execute())
  return found
}

/** Returns the operations that exist among these ids. */
export async function getOperations(tx: Tx, ids: readonly number[]): Promise<OperationView[]> {
  if (ids.length === 0) return []
  return withSteps(tx, await tx.selectFrom('operations').selectAll().where('id', 'in', ids).execute())
}

/**
 * Returns how many operations are queued for the site of an operation, or for its account if it has no site. It counts
 * the operation itself. Operations of an account that someone put off by an hour or more do not count, because they
 * would refuse others for days.
 */
export async function countQueued(tx: Tx, id: number): Promise<number> {
  const [row] = await queuedCount(tx, { id })
  return Number(row?.count ?? 0)
}

const queuedCount = precompiled((tx, { id }: { id: number }) => {
  const query = sql<{ count: number }>`select case when one.site_id is not null
    then (select count(*) from operations where state = 'queued' and site_id = one.site_id)
    else (select count(*) from operations where state = 'queued' and site_id is null and account_id = one.account_id
      and coalesce(run_at - waits_since, 0) < ${sql.lit(HOUR_MS)})
    end as count from operations one where one.id = ${id}`
  return { compile: () => query.compile(tx) }
})

/** Returns operations, newest first. `total` counts all that match the filter, if a page of them is requested. */
export async function findOperations(
  tx: Tx,
  filter: OperationFilter,
  page: RowsAsked,
): Promise<{ operations: OperationView[]; total: number }> {
  const { siteId, state, type, visible } = filter
  let query = tx.selectFrom('operations')
  if (siteId !== undefined) query = query.where('site_id', '=', siteId)
  if (state !== undefined) query = query.where('state', '=', state)
  if (type !== undefined) query = query.where('type', '=', type)
  if (visible) query = query.where(visible)
  const count = async () => {
    const { total } = await query.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow()
    return total
  }
  const total = page.after === undefined ? await count() : 0
  const newest = query.selectAll().orderBy('id', 'desc')
  const rows = await rowsOfPage(newest, page, { column: 'id', order: 'desc' }).execute()
  return { operations: await withSteps(tx, rows), total }
}

async function withSteps(tx: Tx, rows: readonly StoredOperation[]): Promise<OperationView[]> {
  if (rows.length === 0) return []
  const steps = await tx
    .selectFrom('operation_steps')
    .selectAll()
    .where(
      'operation_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('operation_id')
    .orderBy('position')
    .execute()
  const ofOperation = Map.groupBy(steps, (step) => step.operation_id)
  return rows.map((row) => ({
    id: row.id,
    type: row.type,
    siteId: row.site_id,
    accountId: row.account_id,
    askedById: row.asked_by_id,
    state: row.state,
    cancelRequested: row.cancel_requested !== 0,
    pausedAt: row.finished_at === null ? row.paused_at : null,
    isCancelable: isCancelable(row),
    isRetryable: isRetryable(row),
    progress: row.progress,
    steps: (ofOperation.get(row.id) ?? []).map(stepView),
    attempts: row.attempts,
    error: row.error,
    isPermanent: row.is_permanent === 1,
    createdAt: row.created_at,
    startedAt: row.started_at,
    finishedAt: row.finished_at,
  }))
}

const stepView = (row: OperationStepRow): OperationStepView => ({
  name: row.name,
  state: row.state,
  startedAt: row.started_at,
  finishedAt: row.finished_at,
  error: row.error,
  warning: warningOf(row.result),
  bytes: bytesOf(row),
  secondsLeft: row.state === 'running' ? row.seconds_left : null,
})

/** Parses the result only if it has a warning, because results may be large and few have one. */
function warningOf(result: string | null): string | null {
  if (!result?.includes('"warning":')) return null
  const { warning } = JSON.parse(result) as { warning?: unknown }
  return typeof warning === 'string' ? warning : null
}

/** The last written value may be from a moment before the end. */
const bytesOf = ({ state, total_bytes: total, done_bytes: done }: OperationStepRow) =>
  total === null ? null : { done: state === 'succeeded' ? total : (done ?? 0), total }
