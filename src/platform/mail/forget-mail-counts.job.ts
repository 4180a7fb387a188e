import Type from 'typebox'
import { durable } from '../operations/definition.ts'
import { BATCH, inBatches } from '../operations/in-batches.ts'
import { schedule } from '../operations/schedule.ts'
import { forgetMailCounts } from './mail-limit.ts'

/** Deletes expired counts of mails. */
export const forgetMails = durable({
  name: 'mail_counts.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    delete: { run: (context) => inBatches(context, (tx) => forgetMailCounts(tx, context.now(), BATCH)) },
  },
})

export const forgetMailsHourly = schedule({
  name: 'mail_counts.forget',
  everyMs: 3600_000,
  definition: forgetMails,
  input: () => ({}),
})
