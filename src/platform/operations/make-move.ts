import type { Database, Tx } from '../db/database.ts'
import type { OperationStepRow } from '../db/schema.ts'
import type { Log } from '../log/log.ts'
import { usualBackoff, waitAfter } from './backoff.ts'
import {
  type AnyDefinition,
  type Definition,
  isUncounted,
  PermanentFailure,
  type Step,
  type StepContext,
} from './definition.ts'
import { holdLease, type Lease, LeaseLost } from './lease.ts'
import { attemptsOf, percentDone } from './plan.ts'
import { type Progress, type ProgressWriter, progressWriter, timeLeft } from './progress.ts'
import {
  attemptFailed,
  changeStep,
  copyOf,
  goOn,
  putBack,
  type Standing,
  type Surroundings,
  stepDone,
  type WorkMove,
} from './standing.ts'
import { inputOf, resultsOf, sourceOf } from './stored.ts'

/** A point in the life of an operation, told as it is passed: for metrics, and for tests that kill at each of them. */
export interface Moment {
  /** `recording` is inside the transaction, before it commits. */
  readonly at: 'taken' | 'starting' | 'ran' | 'recording' | 'recorded' | 'ended' | 'released' | 'lost'
  readonly operationId: number
  readonly type: string
  readonly step?: string | undefined
  readonly undo?: boolean
}

/** Why the signal of a step is aborted. */
export type AbortReason = 'lost' | 'canceled' | 'stopping'

export interface WorkerSurroundings extends Surroundings {
  readonly database: Database
  readonly log: Log
  readonly services: unknown
  /** 0 to 1. */
  random(): number
  observe(moment: Moment): void
}

/** An operation in the hands of a worker. */
export interface Work {
  readonly surroundings: WorkerSurroundings
  readonly definition: AnyDefinition
  readonly lease: Lease
  readonly reasons: ReadonlySet<AbortReason>
}

const PROGRESS_EVERY_MS = 250

export function tell({ surroundings }: Work, at: Moment['at'], standing: Standing, move = standing.move): void {
  const { id, type } = standing.operation
  const step = move && standing.steps[move.position]?.name
  surroundings.observe({ at, operationId: id, type, ...(move && { step, undo: move.do === 'undo' }) })
}

/**
 * Runs or undoes one step and records how it went and what comes next.
 * @throws LeaseLost when the operation is another worker's, and whatever the database throws
 */
export async function makeMove(work: Work, standing: Standing, move: WorkMove, signal: AbortSignal): Promise<Standing> {
  const progress = progressWriter((progress) => writeProgress(work, standing, move, progress), PROGRESS_EVERY_MS)
  try {
    tell(work, 'starting', standing)
    if (move.do === 'run' && work.reasons.has('canceled')) throw new Error('canceled')
    return await attempt(work, standing, move, signal, progress)
  } catch (error) {
    await progress.close()
    if (error instanceof LeaseLost) throw error
    if (work.reasons.has('lost')) throw new LeaseLost(`operation ${standing.operation.id} was lost`, { cause: error })
    if (signal.aborted && work.reasons.has('stopping')) return handBack(work, standing, move)
    return recordFailure(work, standing, move, error)
  }
}

async function attempt(
  work: Work,
  standing: Standing,
  move: WorkMove,
  signal: AbortSignal,
  progress: ProgressWriter,
): Promise<Standing> {
  const name = stepOf(standing, move).name
  const step = work.definition.steps[name] as Step<unknown, unknown> | undefined
  if (!step) throw new Error(`This version of Stead does not know the step ${name}`)
  const ctx = contextOf(work, standing, move, signal, progress)
  if (step.commit) {
    // nothing of this operation may be written beside the step's own transaction
    await progress.close()
    return record(work, standing, move, async (tx, next) => {
      if (move.do === 'undo') await step.undo?.(tx, ctx)
      // the row is locked: who asks to cancel from now on is too late for this step
      else if (next.operation.cancel_requested) throw new Error('canceled')
      else await checkPermission(work, standing, tx)
      const result = move.do === 'run' ? await step.commit(tx, ctx) : undefined
      return recordDone(work, tx, next, move, result)
    })
  }
  if (move.do === 'run') await checkPermission(work, standing, work.surroundings.database.read)
  const result = await (move.do === 'run' ? step.run(ctx) : step.undo?.(ctx))
  await progress.close()
  tell(work, 'ran', standing)
  return record(work, standing, move, (tx, next) => recordDone(work, tx, next, move, result))
}

/** @throws PermanentFailure when the account that asked for the operation has lost a right that it needs */
async function checkPermission({ definition }: Work, { operation, steps }: Standing, tx: Tx): Promise<void> {
  const askedById = operation.asked_by_id
  if (askedById === null || !definition.permission) return
  const context = { askedById, input: inputOf(definition, operation), results: resultsOf(steps) }
  const refusal = await (definition as Definition).permission?.(tx, context)
  if (refusal !== undefined) throw new PermanentFailure(refusal)
}

async function recordDone(work: Work, tx: Tx, next: Standing, move: WorkMove, result: unknown): Promise<true> {
  if (move.do === 'run') await stepDone(tx, next, move.position, result, work.surroundings)
  else await changeStep(tx, next, move.position, { state: 'undone', error: null })
  return true
}

async function recordFailure(work: Work, standing: Standing, move: WorkMove, error: unknown): Promise<Standing> {
  const { definition, surroundings } = work
  const { attempts, name } = stepOf(standing, move)
  const isFree = isUncounted(error) && !(error instanceof PermanentFailure)
  const isFinal = error instanceof PermanentFailure || (!isFree && attempts >= attemptsOf(definition))
  const backoff = { ...usualBackoff, ...definition.backoff }
  const waitMs = isFinal ? undefined : waitAfter(attempts, backoff, surroundings.random())
  const { id: operationId, type } = standing.operation
  if (!work.reasons.has('canceled'))
    surroundings.log.warn(
      { err: error, operationId, type, step: name, attempt: attempts, undo: move.do === 'undo', retryInMs: waitMs },
      'a step of an operation failed',
    )
  return record(work, standing, move, async (tx, next) => {
    if (isFree) await changeStep(tx, next, move.position, { attempts: attempts - 1 })
    return attemptFailed(tx, next, move, { error, waitMs }, surroundings)
  })
}

/** Puts the operation back for other workers to go on with at once; the attempt that was cut off does not count. */
export async function handBack(work: Work, standing: Standing, move: WorkMove): Promise<Standing> {
  const attempts = stepOf(standing, move).attempts - 1
  const back = await record(work, standing, move, async (tx, next) => {
    await changeStep(tx, next, move.position, { state: move.do === 'run' ? 'pending' : 'undoing', attempts })
    await putBack(tx, next.operation, 0)
    return false
  })
  tell(work, 'released', back)
  return back
}

/**
 * One transaction that writes about the operation under its lease.
 * @param write returns whether the operation goes on; then what comes next is recorded in the same transaction
 */
async function record(
  work: Work,
  standing: Standing,
  move: WorkMove,
  write: (tx: Tx, next: Standing) => Promise<boolean>,
): Promise<Standing> {
  const { surroundings, definition, lease } = work
  const recorded = await surroundings.database.transaction(async (tx) => {
    const operation = await holdLease(tx, lease)
    const next: Standing = { ...copyOf(standing), operation }
    const goesOn = await write(tx, next)
    const result = goesOn ? await goOn(tx, next, definition, surroundings) : { ...next, move: undefined }
    tell(work, 'recording', standing, move)
    return result
  })
  tell(work, 'recorded', recorded, move)
  return recorded
}

function contextOf(
  { surroundings, definition, lease }: Work,
  standing: Standing,
  move: WorkMove,
  signal: AbortSignal,
  progress: ProgressWriter,
): StepContext<unknown, unknown> {
  const { operation, steps } = standing
  const { name, attempts } = stepOf(standing, move)
  const { database, services, log, clock } = surroundings
  const commits = definition.steps[name]?.commit !== undefined
  const percentAt = (fraction: number) => percentDone(definition, steps, move.position, fraction)
  const secondsLeft = timeLeft()
  return {
    operationId: operation.id,
    siteId: operation.site_id,
    accountId: operation.account_id,
    source: sourceOf(operation),
    input: inputOf(definition, operation),
    results: resultsOf(steps),
    attempt: attempts,
    signal,
    services,
    log: log.child({ operationId: operation.id, type: operation.type, step: name }),
    now: clock,
    progress(fraction) {
      if (move.do === 'run') progress.set({ percent: percentAt(fraction) })
    },
    progressBytes(doneBytes, totalBytes) {
      // a total may be a guess; the records hold whole bytes
      const [done, total] = [Math.round(doneBytes), Math.round(totalBytes)]
      const bytes = { done, total: Math.max(done, total), secondsLeft: secondsLeft(done, total) }
      if (move.do === 'run') progress.set({ percent: percentAt(total > 0 ? done / total : 0), bytes })
    },
    async transaction(work) {
      // on SQLite it would wait for itself
      if (commits) throw new Error('a commit step has its transaction already')
      return database.transaction(async (tx) => {
        await holdLease(tx, lease)
        return work(tx)
      })
    },
  }
}

async function writeProgress(
  { surroundings: { database, log }, lease }: Work,
  standing: Standing,
  move: WorkMove,
  { percent, bytes }: Progress,
): Promise<void> {
  try {
    await database.transaction(async (tx) => {
      await holdLease(tx, lease, { progress: percent })
      if (!bytes) return
      const { done: done_bytes, total: total_bytes, secondsLeft: seconds_left } = bytes
      await changeStep(tx, copyOf(standing), move.position, { done_bytes, total_bytes, seconds_left })
    })
  } catch (error) {
    log.debug({ err: error, operationId: lease.operationId }, 'could not write progress')
  }
}

const stepOf = (standing: Standing, move: WorkMove): OperationStepRow =>
  standing.steps[move.position] as OperationStepRow
