import Type from 'typebox'
import type { Database } from '../../platform/db/database.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { COUNTABLE_DAYS, clockOf, countDay, forgetDays } from './day-counts.store.ts'

/** The days of two months. */
const KEPT_DAYS = 63

type Context = StepContext<object, { readonly database: Database }>

/** Counts each day of all sites when it is over, and deletes counts that no report needs. */
export const countDays = durableWith<{ readonly database: Database }>()({
  name: 'client_reports.count_days',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    count: { run: countMissing },
    delete: {
      run: (context) => inBatches(context, (tx) => forgetDays(tx, dayOf(context.now()) - KEPT_DAYS, BATCH)),
    },
  },
})

export const countDaysDaily = schedule({
  name: 'client_reports.count_days',
  at: '00:20',
  definition: countDays,
  input: () => ({}),
})

async function countMissing({ transaction, signal, now }: Context): Promise<void> {
  const yesterday = dayOf(now()) - 1
  for (;;) {
    signal.throwIfAborted()
    const isDone = await transaction(async (tx) => {
      const { last_day: last = yesterday - COUNTABLE_DAYS } = (await clockOf(tx)) ?? {}
      if (last >= yesterday) return true
      await countDay(tx, Number(last) + 1)
      return false
    })
    if (isDone) return
  }
}
