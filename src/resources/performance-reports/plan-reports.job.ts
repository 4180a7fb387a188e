import Type from 'typebox'
import type { Config } from '../../config.ts'
import type { Database } from '../../platform/db/database.ts'
import { durableWith, type StepContext } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { openOperations } from '../../platform/operations/open-operations.ts'
import { schedule } from '../../platform/operations/schedule.ts'
import { holdSite } from '../sites/public.ts'
import { makeReport } from './make-report.job.ts'
import { dueSites, noteAttempt } from './report.store.ts'

interface Services {
  readonly database: Database
  readonly config: Config
}

/**
 * Starts a report for one site of each host, new sites first. So each host measures one site at a time, however many
 * there are.
 */
export const planReports = durableWith<Services>()({
  name: 'performance.plan_reports',
  input: Type.Object({}),
  on: 'control',
  changeableBy: 'account',
  attempts: 2,
  steps: { order: { run: requestReports } },
})

export const planReportsOften = schedule({
  name: 'performance.plan_reports',
  everyMs: 60_000,
  definition: planReports,
  input: () => ({}),
})

async function requestReports({ services, transaction, now }: StepContext<object, Services>): Promise<void> {
  const { performanceReportHours: hours } = services.config
  if (hours === 0) return
  const span = { before: now() - hours * 3_600_000, now: now() }
  for (const { siteId, accountId, hostId } of await dueSites(services.database.read, makeReport.name, span))
    await transaction(async (tx) => {
      // Another requester may have been faster.
      if (!(await holdSite(tx, siteId)) || (await openOperations(tx, siteId)).length > 0) return
      await noteAttempt(tx, siteId, now())
      const about = { siteId, accountId, hostId, now: now() }
      await enqueue(tx, makeReport, { siteId }, about)
    })
}
