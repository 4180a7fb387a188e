import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { newestOnly } from '../../platform/operations/newest-only.ts'
import { schedule } from '../../platform/operations/schedules.ts'
import { forgetEntries, leaveSiteLogs } from './activity.store.ts'

/** Of the description: account activity 60 days, site activity 30. */
const SITE_LOG_DAYS = 30
const ACCOUNT_LOG_DAYS = 60

/**
 * Takes entries out of the logs when their time is over: first out of the site's, in the end out of the account's. Of an account's
 * the newest 100,000 stay.
 */
export const forgetActivity = durableWith<{ readonly database: Database }>()({
  name: 'activity.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    accountLogs: {
      run(context) {
        const before = context.now() - ACCOUNT_LOG_DAYS * DAY_MS
        return inBatches(context, (tx) => forgetEntries(tx, before, BATCH))
      },
    },
    siteLogs: {
      run(context) {
        const before = context.now() - SITE_LOG_DAYS * DAY_MS
        return inBatches(context, (tx) => leaveSiteLogs(tx, before, BATCH))
      },
    },
    tooMany: newestOnly('activity'),
  },
})

export const forgetActivityHourly = schedule({
  name: 'activity.forget',
  everyMs: 3600_000,
  definition: forgetActivity,
  input: () => ({}),
})
