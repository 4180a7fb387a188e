import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

/** By schema: to compile one takes about a millisecond, and most of those that an API declares are never used between two starts. */
const validators = new WeakMap<TSchema, Validator>()

/** Returns what checks values against a schema, compiled when it is first used. */
export function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema)
  if (known) return known
  const validator = Compile(schema)
  validators.set(schema, validator)
  return validator
}
