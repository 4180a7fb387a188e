import Type from 'typebox'
import type { Database } from '../../../platform/db/database.ts'
import { durableWith } from '../../../platform/operations/definition.ts'
import { inBatches } from '../../../platform/operations/in-batches.ts'
import { schedule } from '../../../platform/operations/schedule.ts'
import { closeAlertsOfDeleted } from '../alert.store.ts'
import { mailAlerts } from './mail-alerts.ts'
import { spreadAlerts } from './spread-alerts.ts'

/** Tells people of alerts that began or ended. */
export const tellAlerts = durableWith<{ readonly database: Database }>()({
  name: 'alerts.tell',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: {
    close: { commit: (tx, { now }) => closeAlertsOfDeleted(tx, now()) },
    spread: { run: (context) => inBatches(context, (tx) => spreadAlerts(tx, context.now())) },
    mail: { run: (context) => inBatches(context, (tx) => mailAlerts(tx, context.now())) },
  },
})

export const tellAlertsOften = schedule({
  name: 'alerts.tell',
  everyMs: 30_000,
  definition: tellAlerts,
  input: () => ({}),
})
