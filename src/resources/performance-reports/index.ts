import { resource } from '../kit/resource.ts'
import { actions, events } from './actions.ts'
import { makeReport } from './make-report.job.ts'
import { planReports, planReportsOften } from './plan-reports.job.ts'
import { problems } from './problems.ts'
import { forgetReports } from './report.store.ts'

export const performanceReports = resource({
  tag: { name: 'Performance-reports', description: 'Lighthouse reports on the homepage of a site' },
  endpoints: () => import('./endpoints.ts'),
  jobs: { host: [makeReport], control: [planReports] },
  schedules: [planReportsOften],
  siteHooks: { forgotten: forgetReports },
  problems,
  actions,
  events,
})
