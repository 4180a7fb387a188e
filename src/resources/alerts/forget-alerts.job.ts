import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { forgetAlerts } from './alert.store.ts'
import { ALERT_DAYS } from './alert.ts'
import { forgetMutes } from './mute.store.ts'

/** Deletes old alerts, and mutes that have ended. */
export const forgetOldAlerts = durableWith<{ readonly database: Database }>()({
  name: 'alerts.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    alerts: {
      run: (context) => inBatches(context, (tx) => forgetAlerts(tx, context.now() - ALERT_DAYS * DAY_MS, BATCH)),
    },
    mutes: { run: (context) => inBatches(context, (tx) => forgetMutes(tx, context.now(), BATCH)) },
  },
})

export const forgetOldAlertsDaily = schedule({
  name: 'alerts.forget',
  at: '02:50',
  definition: forgetOldAlerts,
  input: () => ({}),
})
