import type { TSchema } from 'typebox'
import { Compile, type Validator } from 'typebox/compile'

/**
 * Validators by schema. To compile one takes about a millisecond, and most schemas of an API are never used between two
 * starts.
 */
const validators = new WeakMap<TSchema, Validator>()

/** Returns the validator of a schema, compiled at its first use. */
export function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema)
  if (known) return known
  const validator = Compile(schema)
  validators.set(schema, validator)
  return validator
}
