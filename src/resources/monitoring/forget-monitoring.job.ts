import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { durableWith } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { forgetEdges, forgetIncidents, forgetUptime } from './forget-history.store.ts'

/** How long the history of a site is kept. */
export const HISTORY_DAYS = 90
/** An edge that has not reported for this long does not come back. */
const EDGE_DAYS = 1

/** Deletes the history of monitoring after 90 days, and what edges have said that are gone. */
export const forgetMonitoringHistory = durableWith<{ readonly database: Database }>()({
  name: 'monitoring.forget',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    days: {
      run(context) {
        const today = dayOf(context.now())
        return inBatches(context, (tx) => forgetUptime(tx, today - HISTORY_DAYS, today + 1, BATCH))
      },
    },
    incidents: {
      run(context) {
        const before = context.now() - HISTORY_DAYS * DAY_MS
        return inBatches(context, (tx) => forgetIncidents(tx, before, BATCH))
      },
    },
    edges: {
      run(context) {
        const before = context.now() - EDGE_DAYS * DAY_MS
        return inBatches(context, (tx) => forgetEdges(tx, before, BATCH))
      },
    },
  },
})

export const forgetMonitoringDaily = schedule({
  name: 'monitoring.forget',
  at: '02:40',
  definition: forgetMonitoringHistory,
  input: () => ({}),
})
