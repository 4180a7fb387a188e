import { Value } from 'typebox/value'
import type { OperationRow, OperationStepRow } from '../db/schema.ts'
import { type AnyDefinition, PermanentFailure } from './definition.ts'

/**
 * Returns the input that the definition requires.
 * @throws PermanentFailure when it does not fit, for example after an upgrade that changed the schema
 */
export function storedInput(definition: AnyDefinition, operation: Pick<OperationRow, 'input'>): unknown {
  const input: unknown = JSON.parse(operation.input)
  if (!Value.Check(definition.input, input))
    throw new PermanentFailure('The input does not match this version of Stead')
  return input
}

export const storedSource = (operation: Pick<OperationRow, 'source'>): unknown =>
  operation.source === null ? undefined : JSON.parse(operation.source)

/** Returns the results of the steps that have one, by name. */
export function resultsOf(steps: readonly OperationStepRow[]): Record<string, unknown> {
  const withResult = steps.filter(({ result }) => result !== null)
  return Object.fromEntries(withResult.map(({ name, result }) => [name, JSON.parse(result as string)]))
}
