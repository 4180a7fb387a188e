import { sql } from 'kysely'
import { announce, type Tx } from '../../db/database.ts'
import type { OperationStepRow } from '../../db/schema.ts'
import type { Log } from '../../log/log.ts'
import { type AnyDefinition, type FailureContext, PermanentFailure } from '../definition.ts'
import { storedSource } from '../stored.ts'
import { failureText } from './failure-text.ts'
import { databaseNow, LeaseLost, type StoredOperation } from './lease.ts'
import { isPastReturn, nextTransition, percentDone, type Transition } from './next-transition.ts'

/** The worker's next transition of a step. */
export type StepTransition = Extract<Transition, { position: number }>

/** An operation and its steps as recorded, and the worker's next transition, if it still holds the operation. */
export interface OperationState {
  operation: StoredOperation
  steps: OperationStepRow[]
  transition?: StepTransition | undefined
}

/** The services for writing about operations, besides the database. */
export interface OperationServices {
  /** Without a log, a hook that throws makes its caller throw. */
  readonly log?: Log
  /** Milliseconds UTC. */
  clock(): number
}

/** Returns a copy to change inside a transaction, which may be run again, or not commit. */
export const copyOf = ({ operation, steps }: OperationState): OperationState => ({
  operation: { ...operation },
  steps: steps.map((step) => ({ ...step })),
})

/**
 * Changes the record of a step, from the state that the worker knows.
 * @throws LeaseLost when it is in another state: an earlier transaction did commit although its answer was lost, or
 * another worker has continued
 */
export async function changeStep(
  tx: Tx,
  current: OperationState,
  position: number,
  changes: Partial<OperationStepRow>,
): Promise<void> {
  const step = current.steps[position] as OperationStepRow
  const { numUpdatedRows } = await tx
    .updateTable('operation_steps')
    .set(changes)
    .where('operation_id', '=', step.operation_id)
    .where('position', '=', position)
    .where('state', '=', step.state)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n)
    throw new LeaseLost(`step ${step.name} of operation ${step.operation_id} was recorded by another`)
  Object.assign(step, changes)
}

/** Records the beginning of the next transition, or the end of the operation. The caller holds the lease. */
export async function advance(
  tx: Tx,
  current: OperationState,
  definition: AnyDefinition,
  operationServices: OperationServices,
): Promise<OperationState> {
  const { operation, steps } = current
  const transition = nextTransition(definition, operation, steps)
  if (transition.do === 'end') {
    await end(tx, current, definition, transition.state, operationServices)
    return { operation, steps }
  }
  if (transition.do === 'rollBack') {
    if (steps[transition.at]?.started_at != null)
      await changeStep(tx, current, transition.at, { state: 'failed', error: transition.error ?? 'canceled' })
    await rollBack(tx, operation, transition.ending, transition.error)
    return advance(tx, current, definition, operationServices)
  }
  const step = steps[transition.position] as OperationStepRow
  if (transition.do === 'undo')
    await changeStep(tx, current, transition.position, {
      state: 'undoing',
      attempts: step.state === 'undoing' ? step.attempts + 1 : 1,
    })
  else
    await changeStep(tx, current, transition.position, {
      state: 'running',
      attempts: step.attempts + 1,
      started_at: step.started_at ?? operationServices.clock(),
    })
  const progress = percentDone(definition, steps, transition.position)
  if (transition.do === 'run' && progress > operation.progress) {
    await tx.updateTable('operations').set({ progress }).where('id', '=', operation.id).execute()
    operation.progress = progress
  }
  return { operation, steps, transition }
}

/**
 * Starts to undo the operation.
 * @param isPermanent whether another attempt would fail for the same reason
 */
export async function rollBack(
  tx: Tx,
  operation: StoredOperation,
  ending: 'failed' | 'canceled',
  error: string | null,
  isPermanent = false,
): Promise<void> {
  const changes = { ending, error, is_permanent: isPermanent ? 1 : 0 } as const
  await tx.updateTable('operations').set(changes).where('id', '=', operation.id).execute()
  Object.assign(operation, changes)
}

/** Ends the operation, with its hook in the same transaction. The caller holds its lease or has locked its row. */
export async function end(
  tx: Tx,
  { operation, steps }: OperationState,
  definition: AnyDefinition | undefined,
  state: 'succeeded' | 'failed' | 'canceled',
  operationServices: OperationServices,
): Promise<void> {
  const succeeded = state === 'succeeded'
  const changes = {
    state,
    finished_at: operationServices.clock(),
    lease_owner: null,
    lease_until: null,
    error: succeeded ? null : operation.error,
    progress: succeeded ? 100 : operation.progress,
  }
  await tx.updateTable('operations').set(changes).where('id', '=', operation.id).execute()
  if (!succeeded && steps.some((step) => step.state === 'pending'))
    await tx
      .updateTable('operation_steps')
      .set({ state: 'skipped' })
      .where('operation_id', '=', operation.id)
      .where('state', '=', 'pending')
      .execute()
  if (state !== 'succeeded' && definition?.failed && !isPastReturn(definition, steps))
    await callHook(tx, operation, definition, state, operationServices)
  Object.assign(operation, changes)
  await announce(tx, 'operations')
}

async function callHook(
  tx: Tx,
  operation: StoredOperation,
  definition: AnyDefinition,
  state: 'failed' | 'canceled',
  { log, clock }: OperationServices,
): Promise<void> {
  const ctx: FailureContext = {
    operationId: operation.id,
    siteId: operation.site_id,
    accountId: operation.account_id,
    source: storedSource(operation),
    input: JSON.parse(operation.input),
    canceled: state === 'canceled',
    yielded: state === 'canceled' && operation.cancel_requested === 2,
    error: operation.error,
    now: clock,
  }
  // A hook that can never succeed must not prevent the operation, and so its site, from finishing.
  await sql`savepoint failed_hook`.execute(tx)
  try {
    await definition.failed?.(tx, ctx)
    await sql`release savepoint failed_hook`.execute(tx)
  } catch (error) {
    if (mustRunAgain(error) || !log) throw error
    await sql`rollback to savepoint failed_hook`.execute(tx)
    log.error(
      { err: error, operationId: operation.id, type: operation.type },
      'could not record the failure of an operation',
    )
  }
}

/** Returns whether PostgreSQL requires the whole transaction to run again: serialization failure or deadlock. */
const mustRunAgain = (error: unknown): boolean => ['40001', '40P01'].includes((error as { code?: string }).code ?? '')

/** Returns an operation to the queue and releases its lease. It is due again `afterMs` from now. */
export async function requeue(
  tx: Tx,
  operation: StoredOperation,
  afterMs: number,
  error = operation.error,
): Promise<void> {
  await tx
    .updateTable('operations')
    .set({
      state: 'queued',
      run_at: sql<number>`${databaseNow(tx)} + ${afterMs}`,
      waits_since: databaseNow(tx),
      lease_owner: null,
      lease_until: null,
      error,
    })
    .where('id', '=', operation.id)
    .execute()
  await announce(tx, 'operations')
}

/** Records that the step at `position` is done with `result`. */
export async function stepDone(
  tx: Tx,
  current: OperationState,
  position: number,
  result: unknown,
  { clock }: OperationServices,
): Promise<void> {
  await changeStep(tx, current, position, {
    state: 'succeeded',
    result: result === undefined ? null : JSON.stringify(result),
    error: null,
    finished_at: clock(),
  })
}

/**
 * Records that the attempt to run or undo a step failed.
 * @param failure `waitMs` is the time until the next attempt, or `undefined` if it was the last. `isCancelable`: whether
 * a cancel request counts
 * @returns whether the worker continues with the operation; otherwise it waits in the queue
 */
export async function attemptFailed(
  tx: Tx,
  current: OperationState,
  transition: StepTransition,
  failure: { error: unknown; waitMs: number | undefined; isCancelable: boolean },
  operationServices: OperationServices,
): Promise<boolean> {
  const { operation } = current
  const text = failureText(failure.error)
  if (transition.do === 'undo') {
    const givenUp = failure.waitMs === undefined
    await changeStep(tx, current, transition.position, {
      state: givenUp ? 'undo_failed' : 'undoing',
      error: `undo: ${text}`,
    })
    if (!givenUp) await requeue(tx, operation, failure.waitMs as number)
    return givenUp
  }
  const canceled = operation.cancel_requested !== 0 && failure.isCancelable
  if (canceled || failure.waitMs === undefined) {
    await changeStep(tx, current, transition.position, {
      state: 'failed',
      error: canceled ? 'canceled' : text,
      finished_at: operationServices.clock(),
    })
    if (canceled) await rollBack(tx, operation, 'canceled', null)
    else await rollBack(tx, operation, 'failed', text, failure.error instanceof PermanentFailure)
    return true
  }
  await changeStep(tx, current, transition.position, { state: 'pending', error: text })
  await requeue(tx, operation, failure.waitMs, text)
  return false
}
