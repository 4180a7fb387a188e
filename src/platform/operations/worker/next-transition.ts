import type { OperationRow, OperationStepRow } from '../../db/schema.ts'
import type { AnyDefinition } from '../definition.ts'

/** The worker's next action on an operation. */
export type Transition =
  | { readonly do: 'run' | 'undo'; readonly position: number }
  /** Undoes the finished work from now on, then ends with `ending`. `at` is the step that would have been next. */
  | {
      readonly do: 'rollBack'
      readonly at: number
      readonly ending: 'failed' | 'canceled'
      readonly error: string | null
    }
  | { readonly do: 'end'; readonly state: 'succeeded' | 'failed' | 'canceled' }

const USUAL_ATTEMPTS = 5
/** How many processes may die in a step, beyond its attempts, before the step itself counts as the cause. */
const DEATHS_ALLOWED = 5

export const attemptsAllowed = (definition: AnyDefinition): number => definition.attempts ?? USUAL_ATTEMPTS

/** Returns the steps that an operation may still run or undo: those behind a point of no return that it has passed. */
export function stepsInPlay(
  definition: AnyDefinition,
  steps: readonly OperationStepRow[],
): readonly OperationStepRow[] {
  const isPoint = ({ name, state }: OperationStepRow) =>
    state === 'succeeded' && definition.steps[name]?.pointOfNoReturn === true
  return steps.slice(steps.findLastIndex(isPoint) + 1)
}

/** Returns whether an operation has passed a point of no return. */
export const isPastReturn = (definition: AnyDefinition, steps: readonly OperationStepRow[]): boolean =>
  stepsInPlay(definition, steps).length < steps.length

/** Decides only from the records, so that a worker that takes over decides the same. */
export function nextTransition(
  definition: AnyDefinition,
  operation: Pick<OperationRow, 'ending' | 'cancel_requested'>,
  steps: readonly OperationStepRow[],
): Transition {
  const mostStarts = attemptsAllowed(definition) + DEATHS_ALLOWED
  const inPlay = stepsInPlay(definition, steps)
  if (operation.ending) {
    const step = inPlay.findLast((each) => hasToBeUndone(definition, each))
    return step ? { do: 'undo', position: step.position } : { do: 'end', state: operation.ending }
  }
  const step = inPlay.find(({ state }) => state !== 'succeeded')
  if (!step) return { do: 'end', state: 'succeeded' }
  const at = step.position
  if (operation.cancel_requested && !isPastReturn(definition, steps))
    return { do: 'rollBack', at, ending: 'canceled', error: null }
  if (step.attempts >= mostStarts)
    return { do: 'rollBack', at, ending: 'failed', error: `Step ${step.name} was interrupted ${step.attempts} times` }
  return { do: 'run', position: step.position }
}

function hasToBeUndone(definition: AnyDefinition, step: OperationStepRow): boolean {
  const code = definition.steps[step.name]
  if (!code?.undo) return false
  if (step.state === 'succeeded') return true
  if (step.state === 'undoing') return step.attempts < attemptsAllowed(definition) + DEATHS_ALLOWED
  // A started run step may have done half of its work. A commit step that did not commit has done nothing.
  return !code.commit && step.started_at !== null && (step.state === 'pending' || step.state === 'failed')
}

/** Returns the percentage done before (`fraction` of) the step at `position`. 100 is reserved for the end. */
export function percentDone(
  definition: AnyDefinition,
  steps: readonly OperationStepRow[],
  position: number,
  fraction = 0,
): number {
  const weights = steps.map(({ name }) => definition.steps[name]?.weight ?? 1)
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const before = weights.slice(0, position).reduce((sum, weight) => sum + weight, 0)
  const within = Math.min(1, Math.max(0, fraction || 0)) * (weights[position] ?? 0)
  return total > 0 ? Math.min(99, Math.floor(((before + within) / total) * 100)) : 0
}
