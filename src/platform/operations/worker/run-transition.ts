import type { Database, Tx } from '../../db/database.ts'
import type { OperationStepRow } from '../../db/schema.ts'
import type { Log } from '../../log/log.ts'
import {
  type AnyDefinition,
  type Definition,
  isUncounted,
  PermanentFailure,
  type Step,
  type StepContext,
} from '../definition.ts'
import { resultsOf, storedInput, storedSource } from '../stored.ts'
import { usualBackoff, waitAfter } from './backoff.ts'
import { holdLease, type Lease, LeaseLost } from './lease.ts'
import { attemptsAllowed, isPastReturn, percentDone } from './next-transition.ts'
import {
  advance,
  attemptFailed,
  changeStep,
  copyOf,
  type OperationServices,
  type OperationState,
  requeue,
  type StepTransition,
  stepDone,
} from './operation-state.ts'
import { estimateTimeLeft, type ProgressWriter, progressWriter, type StepProgress } from './progress.ts'

/**
 * A point in the life of an operation, reported when it is reached: for metrics, and for tests that kill at each of
 * them.
 */
export interface TransitionMoment {
  /** `recording` is inside the transaction, before it commits. */
  readonly at: 'taken' | 'starting' | 'ran' | 'recording' | 'recorded' | 'ended' | 'released' | 'lost'
  readonly operationId: number
  readonly type: string
  readonly step?: string | undefined
  readonly undo?: boolean
}

/** Why the signal of a step is aborted. */
export type AbortReason = 'lost' | 'canceled' | 'stopping'

export interface WorkerServices extends OperationServices {
  readonly database: Database
  readonly log: Log
  readonly services: unknown
  /** 0 to 1. */
  random(): number
  observe(moment: TransitionMoment): void
}

/** An operation that a worker holds. */
export interface HeldOperation {
  readonly operationServices: WorkerServices
  readonly definition: AnyDefinition
  readonly lease: Lease
  readonly reasons: ReadonlySet<AbortReason>
}

const PROGRESS_EVERY_MS = 250

export function tell(
  { operationServices }: HeldOperation,
  at: TransitionMoment['at'],
  current: OperationState,
  transition = current.transition,
): void {
  const { id, type } = current.operation
  const step = transition && current.steps[transition.position]?.name
  operationServices.observe({ at, operationId: id, type, ...(transition && { step, undo: transition.do === 'undo' }) })
}

/**
 * Runs or undoes one step, and records its outcome and the next transition.
 * @throws LeaseLost when another worker holds the operation, and errors of the database
 */
export async function runTransition(
  work: HeldOperation,
  current: OperationState,
  transition: StepTransition,
  signal: AbortSignal,
): Promise<OperationState> {
  const progress = progressWriter((progress) => writeProgress(work, current, transition, progress), PROGRESS_EVERY_MS)
  try {
    tell(work, 'starting', current)
    if (transition.do === 'run' && work.reasons.has('canceled')) throw new Error('canceled')
    return await attempt(work, current, transition, signal, progress)
  } catch (error) {
    await progress.close()
    if (error instanceof LeaseLost) throw error
    if (work.reasons.has('lost')) throw new LeaseLost(`operation ${current.operation.id} was lost`, { cause: error })
    if (signal.aborted && work.reasons.has('stopping')) return handBack(work, current, transition)
    return recordFailure(work, current, transition, error)
  }
}

async function attempt(
  work: HeldOperation,
  current: OperationState,
  transition: StepTransition,
  signal: AbortSignal,
  progress: ProgressWriter,
): Promise<OperationState> {
  const name = stepOf(current, transition).name
  const step = work.definition.steps[name] as Step<unknown, unknown> | undefined
  if (!step) throw new Error(`This version of Stead does not know the step ${name}`)
  const ctx = contextOf(work, current, transition, signal, progress)
  if (step.commit) {
    // Nothing about this operation may be written outside the step's own transaction.
    await progress.close()
    return record(work, current, transition, async (tx, next) => {
      if (transition.do === 'undo') await step.undo?.(tx, ctx)
      // The row is locked: a later cancel request is too late for this step.
      else if (next.operation.cancel_requested && !isPastReturn(work.definition, next.steps))
        throw new Error('canceled')
      else await checkPermission(work, current, tx)
      const result = transition.do === 'run' ? await step.commit(tx, ctx) : undefined
      return recordDone(work, tx, next, transition, result)
    })
  }
  if (transition.do === 'run') await checkPermission(work, current, work.operationServices.database.read)
  const result = await (transition.do === 'run' ? step.run(ctx) : step.undo?.(ctx))
  await progress.close()
  tell(work, 'ran', current)
  return record(work, current, transition, (tx, next) => recordDone(work, tx, next, transition, result))
}

/** @throws PermanentFailure when the account that requested the operation has lost a right that it needs */
async function checkPermission(
  { definition }: HeldOperation,
  { operation, steps }: OperationState,
  tx: Tx,
): Promise<void> {
  const askedById = operation.asked_by_id
  if (askedById === null || !definition.permission || isPastReturn(definition, steps)) return
  const context = { askedById, input: storedInput(definition, operation), results: resultsOf(steps) }
  const refusal = await (definition as Definition).permission?.(tx, context)
  if (refusal !== undefined) throw new PermanentFailure(refusal)
}

async function recordDone(
  work: HeldOperation,
  tx: Tx,
  next: OperationState,
  transition: StepTransition,
  result: unknown,
): Promise<true> {
  if (transition.do === 'run') await stepDone(tx, next, transition.position, result, work.operationServices)
  else await changeStep(tx, next, transition.position, { state: 'undone', error: null })
  return true
}

async function recordFailure(
  work: HeldOperation,
  current: OperationState,
  transition: StepTransition,
  error: unknown,
): Promise<OperationState> {
  const { definition, operationServices } = work
  const { attempts, name } = stepOf(current, transition)
  const isFree = isUncounted(error) && !(error instanceof PermanentFailure)
  const isFinal = error instanceof PermanentFailure || (!isFree && attempts >= attemptsAllowed(definition))
  const backoff = { ...usualBackoff, ...definition.backoff }
  const waitMs = isFinal ? undefined : waitAfter(attempts, backoff, operationServices.random())
  const { id: operationId, type } = current.operation
  if (!work.reasons.has('canceled'))
    operationServices.log.warn(
      {
        err: error,
        operationId,
        type,
        step: name,
        attempt: attempts,
        undo: transition.do === 'undo',
        retryInMs: waitMs,
      },
      'a step of an operation failed',
    )
  return record(work, current, transition, async (tx, next) => {
    if (isFree) await changeStep(tx, next, transition.position, { attempts: attempts - 1 })
    const isCancelable = !isPastReturn(definition, next.steps)
    return attemptFailed(tx, next, transition, { error, waitMs, isCancelable }, operationServices)
  })
}

/**
 * Returns the operation to the queue, so that other workers continue at once. The interrupted attempt does not count.
 */
export async function handBack(
  work: HeldOperation,
  current: OperationState,
  transition: StepTransition,
): Promise<OperationState> {
  const attempts = stepOf(current, transition).attempts - 1
  const back = await record(work, current, transition, async (tx, next) => {
    await changeStep(tx, next, transition.position, {
      state: transition.do === 'run' ? 'pending' : 'undoing',
      attempts,
    })
    await requeue(tx, next.operation, 0)
    return false
  })
  tell(work, 'released', back)
  return back
}

/**
 * Runs one transaction that writes about the operation under its lease.
 * @param write returns whether the operation continues; if so, the next transition is recorded in the same transaction
 */
async function record(
  work: HeldOperation,
  current: OperationState,
  transition: StepTransition,
  write: (tx: Tx, next: OperationState) => Promise<boolean>,
): Promise<OperationState> {
  const { operationServices, definition, lease } = work
  const recorded = await operationServices.database.transaction(async (tx) => {
    const operation = await holdLease(tx, lease)
    const next: OperationState = { ...copyOf(current), operation }
    const goesOn = await write(tx, next)
    const result = goesOn ? await advance(tx, next, definition, operationServices) : { ...next, transition: undefined }
    tell(work, 'recording', current, transition)
    return result
  })
  tell(work, 'recorded', recorded, transition)
  return recorded
}

function contextOf(
  { operationServices, definition, lease }: HeldOperation,
  current: OperationState,
  transition: StepTransition,
  signal: AbortSignal,
  progress: ProgressWriter,
): StepContext<unknown, unknown> {
  const { operation, steps } = current
  const { name, attempts } = stepOf(current, transition)
  const { database, services, log, clock } = operationServices
  const commits = definition.steps[name]?.commit !== undefined
  const percentAt = (fraction: number) => percentDone(definition, steps, transition.position, fraction)
  const secondsLeft = estimateTimeLeft()
  return {
    operationId: operation.id,
    siteId: operation.site_id,
    accountId: operation.account_id,
    source: storedSource(operation),
    input: storedInput(definition, operation),
    results: resultsOf(steps),
    attempt: attempts,
    signal,
    services,
    log: log.child({ operationId: operation.id, type: operation.type, step: name }),
    now: clock,
    progress(fraction) {
      if (transition.do === 'run') progress.set({ percent: percentAt(fraction) })
    },
    progressBytes(doneBytes, totalBytes) {
      // A total may be an estimate, but the records hold whole bytes.
      const [done, total] = [Math.round(doneBytes), Math.round(totalBytes)]
      const bytes = { done, total: Math.max(done, total), secondsLeft: secondsLeft(done, total) }
      if (transition.do === 'run') progress.set({ percent: percentAt(total > 0 ? done / total : 0), bytes })
    },
    async transaction(work) {
      // On SQLite, the second transaction would wait for the first forever.
      if (commits) throw new Error('a commit step has its transaction already')
      return database.transaction(async (tx) => {
        await holdLease(tx, lease)
        return work(tx)
      })
    },
  }
}

async function writeProgress(
  { operationServices: { database, log }, lease }: HeldOperation,
  current: OperationState,
  transition: StepTransition,
  { percent, bytes }: StepProgress,
): Promise<void> {
  try {
    await database.transaction(async (tx) => {
      await holdLease(tx, lease, { progress: percent })
      if (!bytes) return
      const { done: done_bytes, total: total_bytes, secondsLeft: seconds_left } = bytes
      await changeStep(tx, copyOf(current), transition.position, { done_bytes, total_bytes, seconds_left })
    })
  } catch (error) {
    log.debug({ err: error, operationId: lease.operationId }, 'could not write progress')
  }
}

const stepOf = (current: OperationState, transition: StepTransition): OperationStepRow =>
  current.steps[transition.position] as OperationStepRow
