import Type from 'typebox'
import { durable } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { forgetOldAttempts } from './attempts.store.ts'
import { FORGET_MS } from './attempts.ts'
import { forgetLinks } from './credentials.store.ts'
import { forgetSpentChallenges } from './passkeys/passkey.store.ts'

/** Deletes expired links and old guesses. Sessions expire with their tokens. */
export const forgetSignIns = durable({
  name: 'sign_ins.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    links: { run: (context) => inBatches(context, (tx) => forgetLinks(tx, context.now(), BATCH)) },
    challenges: { run: (context) => inBatches(context, (tx) => forgetSpentChallenges(tx, context.now(), BATCH)) },
    attempts: { run: (context) => inBatches(context, (tx) => forgetOldAttempts(tx, context.now() - FORGET_MS, BATCH)) },
  },
})

export const forgetSignInsHourly = schedule({
  name: 'sign_ins.forget',
  everyMs: 3600_000,
  definition: forgetSignIns,
  input: () => ({}),
})
