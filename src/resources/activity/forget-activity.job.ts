import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { newestOnly } from '../../platform/operations/newest-only.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { forgetEntries, leaveSiteLogs } from './activity.store.ts'

/** From the API description: account activity 60 days, site activity 30. */
const SITE_LOG_DAYS = 30
const ACCOUNT_LOG_DAYS = 60

/**
 * Removes expired entries, first from the site's log, and later from the account's. Keeps only the newest 100,000 of an
 * account.
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
