import Type from 'typebox'
import { Problem } from '../../platform/http/problem.ts'
import { Nothing } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { requireInstalled, problems as siteProblems } from '../sites/public.ts'
import { actions } from './actions.ts'
import { makeReport } from './make-report.job.ts'
import { problems } from './problems.ts'
import { isReportInProgress } from './report.store.ts'

export const orderReport = endpoint({
  id: 'orderPerformanceReport',
  method: 'POST',
  path: '/v1/sites/{id}/reports/performance',
  summary: 'Create a performance report',
  description:
    'Starts an operation that takes one or two minutes. A browser opens the homepage twice, as on a desktop and as on a phone.',
  access: { site: 'manage performance' },
  params: Type.Object({ id: SiteId }),
  response: Nothing,
  starts: true,
  problems: [siteProblems.site_not_live, problems.report_under_way],

  async handle(context) {
    const { tx, site } = context
    requireInstalled(site)
    if (await isReportInProgress(tx, makeReport.name, site.id)) throw new Problem(problems.report_under_way, {})
    await context.start(makeReport, { siteId: site.id })
    await context.record({ action: actions['performance_report.ordered'], message: 'Requested a performance report' })
    return null
  },
})
