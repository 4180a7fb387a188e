import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { forgetBatches } from './batch/batch.store.ts'
import { forgetUpdates } from './safe-update.store.ts'
import { REPORT_DAYS } from './safe-update.ts'

/** Deletes old reports of safe updates, with their pictures. */
export const forgetSafeUpdates = durableWith<{ readonly database: Database }>()({
  name: 'safe_updates.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    batches: {
      run: (context) => inBatches(context, (tx) => forgetBatches(tx, context.now() - REPORT_DAYS * DAY_MS, BATCH)),
    },
    delete: {
      run: (context) => inBatches(context, (tx) => forgetUpdates(tx, context.now() - REPORT_DAYS * DAY_MS, BATCH)),
    },
  },
})

export const forgetSafeUpdatesDaily = schedule({
  name: 'safe_updates.forget',
  at: '02:50',
  definition: forgetSafeUpdates,
  input: () => ({}),
})
