import Type from 'typebox'
import { durable } from '../../operations/definition.ts'
import { BATCH, inBatches } from '../../operations/in-batches.ts'
import { schedule } from '../../operations/schedule.ts'
import { forgetOldKeys } from './idempotency.ts'

/** Deletes expired idempotency keys and the responses stored with them. */
export const forgetKeys = durable({
  name: 'idempotency_keys.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    delete: { run: (context) => inBatches(context, (tx) => forgetOldKeys(tx, context.now(), BATCH)) },
  },
})

export const forgetKeysHourly = schedule({
  name: 'idempotency_keys.forget',
  everyMs: 3600_000,
  definition: forgetKeys,
  input: () => ({}),
})
