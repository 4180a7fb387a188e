import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Database } from '../../platform/db/database.ts'
import { HOUR_MS } from '../../platform/durations.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { BATCH, inBatches } from '../../platform/operations/in-batches.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { holdSite } from '../sites/public.ts'
import { forgetReportsBefore, sitesWithout, storeReport } from './client-report.store.ts'
import { gatherReport, KEPT_MONTHS } from './gather-report.ts'
import { forgetMailsBefore } from './mail/recipients.store.ts'
import { type Month, monthOf, startOfMonth } from './month.ts'

/** How long after a month its reports are stored. Then the counts of its last day are complete. */
export const CLOSES_AFTER_MS = 4 * HOUR_MS
/** Sites that are read at once. Each is stored in a transaction of its own. */
const SITES = 200

interface Services {
  readonly database: Database
  readonly config: Config
}

/** Stores the reports of the last month for all live sites, and deletes reports and mails that are too old. */
export const closeMonth = durableWith<Services>()({
  name: 'client_reports.close_month',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  steps: {
    store: { run: storeReports },
    delete: {
      run: (context) =>
        inBatches(context, (tx) => forgetReportsBefore(tx, monthOf(context.now()) - KEPT_MONTHS, BATCH)),
    },
    mails: {
      run: (context) => inBatches(context, (tx) => forgetMailsBefore(tx, monthOf(context.now()) - KEPT_MONTHS, BATCH)),
    },
  },
})

export const closeMonthHourly = schedule({
  name: 'client_reports.close_month',
  everyMs: HOUR_MS,
  definition: closeMonth,
  input: () => ({}),
})

/** Returns the last month, if its reports can be stored. */
export function closedMonth(now: number): Month | undefined {
  const month = monthOf(now) - 1
  return now >= startOfMonth(month + 1) + CLOSES_AFTER_MS ? month : undefined
}

/** Stores what is missing. Each site is one transaction, which finds it again. */
export async function storeReports(
  context: Pick<StepContext<object, Services>, 'services' | 'transaction' | 'signal' | 'now'>,
): Promise<void> {
  const { services, transaction, signal, now } = context
  const month = closedMonth(now())
  if (month === undefined) return
  const before = startOfMonth(month + 1)
  let after = 0
  for (;;) {
    const ids = await sitesWithout(services.database.read, { month, before, after, most: SITES })
    for (const siteId of ids) {
      signal.throwIfAborted()
      await transaction(async (tx) => {
        const site = await holdSite(tx, siteId)
        if (!site) return
        const contents = await gatherReport(tx, { site, month, now: now(), config: services.config })
        await storeReport(tx, { siteId, month, contents, now: now() })
      })
    }
    const last = ids.at(-1)
    if (last === undefined) return
    after = last
  }
}
