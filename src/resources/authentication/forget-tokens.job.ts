import Type from 'typebox'
import { durable } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { forgetExpiredTokens } from './token.store.ts'

/** Deletes tokens that have expired. */
export const forgetTokens = durable({
  name: 'tokens.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    delete: { run: (context) => inBatches(context, (tx) => forgetExpiredTokens(tx, context.now(), BATCH)) },
  },
})

export const forgetTokensHourly = schedule({
  name: 'tokens.forget',
  everyMs: 3600_000,
  definition: forgetTokens,
  input: () => ({}),
})
