import type { AnyDefinition } from './definition.ts'
import { type Lease, LeaseLost } from './lease.ts'
import { type AbortReason, handBack, makeMove, tell, type Work, type WorkerSurroundings } from './make-move.ts'
import type { Standing, WorkMove } from './standing.ts'

/** An operation that this worker is at. */
export interface Execution {
  readonly type: string
  readonly lease: Lease
  /** Settled, never rejected, when the worker has nothing to do with the operation any more. */
  readonly done: Promise<void>
  /** Aborts the running step; `canceled` lets an undo run on. */
  abort(reason: AbortReason): void
  /** Puts the operation back when the running step has ended by itself. */
  endAfterStep(): void
}

/** Runs an operation that was taken up, step after step, until it ends, waits in the queue, or is lost. */
export function execute(
  surroundings: WorkerSurroundings,
  definition: AnyDefinition,
  lease: Lease,
  taken: Standing,
): Execution {
  const reasons = new Set<AbortReason>()
  const work: Work = { surroundings, definition, lease, reasons }
  let endsAfterStep = false
  let current: { move: WorkMove; controller: AbortController } | undefined

  const run = async () => {
    tell(work, 'taken', taken)
    let standing = taken
    while (standing.move) {
      const { move } = standing
      if (endsAfterStep) {
        standing = await handBack(work, standing, move)
        continue
      }
      const controller = new AbortController()
      current = { move, controller }
      standing = await makeMove(work, standing, move, controller.signal)
    }
    if (standing.operation.finished_at !== null) tell(work, 'ended', standing)
  }

  const abandon = (error: unknown) => {
    const bindings = { err: error, operationId: lease.operationId, type: taken.operation.type }
    if (error instanceof LeaseLost) surroundings.log.warn(bindings, 'another worker took over an operation')
    else surroundings.log.error(bindings, 'could not record the state of an operation, its lease will expire')
    tell(work, 'lost', taken, undefined)
  }

  return {
    type: definition.name,
    lease,
    done: run().catch(abandon),
    abort(reason) {
      reasons.add(reason)
      if (current && !(reason === 'canceled' && current.move.do === 'undo')) current.controller.abort(new Error(reason))
    },
    endAfterStep() {
      endsAfterStep = true
    },
  }
}
