import { sql } from 'kysely'
import { announce, isPostgres, type Tx } from '../db/database.ts'
import type { OperationStepRow } from '../db/schema.ts'
import { type Definition, type Definitions, yieldingTypes } from './definition.ts'
import { isCancelable, isRetryable } from './read.ts'
import { storedSource } from './stored.ts'
import { databaseNow, type StoredOperation } from './worker/lease.ts'
import { isPastReturn, stepsInPlay } from './worker/next-transition.ts'
import { end } from './worker/operation-state.ts'
import { noBytesYet } from './worker/progress.ts'

/** `requested`: its worker is notified and undoes the work. `too_late`: it has ended, or is being undone already. */
export type CancelOutcome = 'canceled' | 'requested' | 'too_late' | 'unknown'

/**
 * Cancels an operation: directly if it was never begun, otherwise through its worker.
 * @param now milliseconds UTC
 * @param definitions those whose `failed` hook is called for an operation that is canceled directly; without them, no
 * hook is called, and the worker ignores a request behind a point of no return
 * @param isYielding whether it yields to another operation
 * @throws the hook's error
 */
export async function requestCancel(
  tx: Tx,
  operationId: number,
  now: number,
  definitions?: Definitions,
  isYielding = false,
): Promise<CancelOutcome> {
  const operation = await lockedOperation(tx, operationId)
  if (!operation) return 'unknown'
  if (!isCancelable(operation)) return 'too_late'
  const steps = await stepsOf(tx, operationId)
  const definition = definitions?.get(operation.type)
  if (definition && isPastReturn(definition, steps)) return 'too_late'
  const cancel_requested = isYielding ? (2 as const) : (1 as const)
  if (operation.state === 'queued' && steps.every(({ started_at }) => started_at === null)) {
    const canceled = { ...operation, cancel_requested }
    await end(tx, { operation: canceled, steps }, definition, 'canceled', { clock: () => now })
    return 'canceled'
  }
  await tx
    .updateTable('operations')
    // An operation that waits for its next attempt need not wait any longer.
    .set({
      cancel_requested,
      ...(operation.state === 'queued' && { run_at: databaseNow(tx), waits_since: databaseNow(tx) }),
    })
    .where('id', '=', operationId)
    .execute()
  await announce(tx, 'operations')
  return 'requested'
}

/** Makes an operation due now that waits for a later time. Changes nothing if it has begun. */
export async function hurryOperation(tx: Tx, operationId: number): Promise<void> {
  const { numUpdatedRows } = await tx
    .updateTable('operations')
    .set({ run_at: databaseNow(tx), waits_since: databaseNow(tx) })
    .where('id', '=', operationId)
    .where('state', '=', 'queued')
    .where('started_at', 'is', null)
    .where('run_at', '>', databaseNow(tx))
    .executeTakeFirstOrThrow()
  if (numUpdatedRows > 0n) await announce(tx, 'operations')
}

/**
 * Cancels all unfinished operations of a site, for example for its deletion. A later operation then waits for at most
 * one undo. The parameters are those of {@link requestCancel}.
 */
export async function cancelOpenOperations(
  tx: Tx,
  siteId: number,
  now: number,
  definitions?: Definitions,
): Promise<void> {
  for (const { id } of await openOperations(tx, siteId).execute()) await requestCancel(tx, id, now, definitions)
}

/** Cancels all unfinished operations of an account. The parameters are those of {@link requestCancel}. */
export async function cancelOperationsOf(
  tx: Tx,
  accountId: number,
  now: number,
  definitions?: Definitions,
): Promise<void> {
  const open = tx.selectFrom('operations').select('id').where('account_id', '=', accountId)
  for (const { id } of await open.where('finished_at', 'is', null).orderBy('id').execute())
    await requestCancel(tx, id, now, definitions)
}

/** Cancels operations that yield to another operation of their site, so that it does not have to wait for them. */
export async function cancelYielding(
  tx: Tx,
  { siteId, to, now }: { readonly siteId: number; readonly to: number; readonly now: number },
): Promise<void> {
  const types = new Map(yieldingTypes().map((type) => [type.name, type]))
  if (types.size === 0) return
  const older = openOperations(tx, siteId)
    .where('type', 'in', [...types.keys()])
    .where('id', '<', to)
  for (const row of await older.selectAll().execute()) {
    const open = { operationId: row.id, siteId, source: storedSource(row), input: JSON.parse(row.input), now }
    if (await (types.get(row.type) as Definition).yields?.(tx, open)) await requestCancel(tx, row.id, now, types, true)
  }
}

const openOperations = (tx: Tx, siteId: number) =>
  tx.selectFrom('operations').select('id').where('site_id', '=', siteId).where('finished_at', 'is', null).orderBy('id')

/**
 * Returns a failed or canceled operation to the queue. Steps that are done and were not undone stay done. A step after
 * an undone one runs again, unless it is a commit step, whose effect is in the database. Behind a point of no return that
 * was passed, nothing before it runs again.
 * @param askedById the account that requests it from now on; by default, the original one
 * @returns `not_ended` if the operation is queued or running, or has succeeded
 */
export async function requeueOperation(
  tx: Tx,
  operationId: number,
  definitions: Definitions,
  askedById?: number,
): Promise<'queued' | 'not_ended' | 'unknown'> {
  const operation = await lockedOperation(tx, operationId)
  if (!operation) return 'unknown'
  if (!isRetryable(operation)) return 'not_ended'
  const steps = await stepsOf(tx, operationId)
  const definition = definitions.get(operation.type)
  const inPlay = definition ? stepsInPlay(definition, steps) : steps
  const firstOpen = inPlay.findIndex(({ state }) => state !== 'succeeded')
  const again = inPlay.filter(
    ({ state, name }, index) =>
      state !== 'succeeded' || (index > firstOpen && firstOpen >= 0 && !definition?.steps[name]?.commit),
  )
  for (const step of again) await resetStep(tx, step)
  await tx
    .updateTable('operations')
    .set({
      state: 'queued',
      ending: null,
      cancel_requested: 0,
      paused_at: null,
      error: null,
      is_permanent: 0,
      progress: 0,
      run_at: databaseNow(tx),
      waits_since: databaseNow(tx),
      started_at: null,
      finished_at: null,
      ...(askedById !== undefined && { asked_by_id: askedById }),
    })
    .where('id', '=', operationId)
    .execute()
  await announce(tx, 'operations')
  return 'queued'
}

async function resetStep(tx: Tx, step: OperationStepRow): Promise<void> {
  // The effects of a step that could not be undone may remain, so a cancel must try to undo it again.
  const started_at = step.state === 'undo_failed' ? step.started_at : null
  await tx
    .updateTable('operation_steps')
    .set({ state: 'pending', attempts: 0, result: null, error: null, started_at, finished_at: null, ...noBytesYet })
    .where('operation_id', '=', step.operation_id)
    .where('position', '=', step.position)
    .execute()
}

/** Returns the row, locked against workers. They also lock it first in each of their transactions. */
async function lockedOperation(tx: Tx, id: number): Promise<StoredOperation | undefined> {
  const { rows } = await sql<StoredOperation>`select * from operations where id = ${id}
    ${isPostgres(tx) ? sql`for update` : sql``}`.execute(tx)
  return rows[0]
}

const stepsOf = (tx: Tx, operationId: number): Promise<OperationStepRow[]> =>
  tx.selectFrom('operation_steps').selectAll().where('operation_id', '=', operationId).orderBy('position').execute()
