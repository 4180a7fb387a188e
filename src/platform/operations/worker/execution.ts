import type { AnyDefinition } from '../definition.ts'
import { type Lease, LeaseLost } from './lease.ts'
import { isPastReturn } from './next-transition.ts'
import type { OperationState, StepTransition } from './operation-state.ts'
import {
  type AbortReason,
  type HeldOperation,
  handBack,
  runTransition,
  tell,
  type WorkerServices,
} from './run-transition.ts'

/** An operation that this worker runs. */
export interface Execution {
  readonly type: string
  readonly lease: Lease
  /** Resolves, and never rejects, when the worker has finished with the operation. */
  readonly done: Promise<void>
  /** Aborts the running step. `canceled` does not interrupt an undo, or a step behind a point of no return. */
  abort(reason: AbortReason): void
  /** Returns the operation to the queue when the running step has ended normally. */
  endAfterStep(): void
}

/** Runs an operation that was taken up, step after step, until it ends, waits in the queue, or is lost. */
export function execute(
  operationServices: WorkerServices,
  definition: AnyDefinition,
  lease: Lease,
  taken: OperationState,
): Execution {
  const reasons = new Set<AbortReason>()
  const work: HeldOperation = { operationServices, definition, lease, reasons }
  let endsAfterStep = false
  let state = taken
  let current: { transition: StepTransition; controller: AbortController } | undefined

  const run = async () => {
    tell(work, 'taken', taken)
    while (state.transition) {
      const { transition } = state
      if (endsAfterStep) {
        state = await handBack(work, state, transition)
        continue
      }
      const controller = new AbortController()
      current = { transition, controller }
      state = await runTransition(work, state, transition, controller.signal)
    }
    if (state.operation.finished_at !== null) tell(work, 'ended', state)
  }

  const abandon = (error: unknown) => {
    const bindings = { err: error, operationId: lease.operationId, type: taken.operation.type }
    if (error instanceof LeaseLost) operationServices.log.warn(bindings, 'another worker took over an operation')
    else operationServices.log.error(bindings, 'could not record the state of an operation, its lease will expire')
    tell(work, 'lost', taken, undefined)
  }

  return {
    type: definition.name,
    lease,
    done: run().catch(abandon),
    abort(reason) {
      if (reason === 'canceled' && isPastReturn(definition, state.steps)) return
      reasons.add(reason)
      if (current && !(reason === 'canceled' && current.transition.do === 'undo'))
        current.controller.abort(new Error(reason))
    },
    endAfterStep() {
      endsAfterStep = true
    },
  }
}
