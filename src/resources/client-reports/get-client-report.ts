import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { ClientReport } from './contents.ts'
import { reportOf } from './gather-report.ts'
import { MonthField, monthNamed } from './month.ts'

export const getClientReport = endpoint({
  id: 'getClientReport',
  method: 'GET',
  path: '/v1/sites/{site_id}/client-reports/{month}',
  summary: 'Get the client report of a month',
  description:
    'An addition of Stead. Returns uptime, updates, backups, visits, performance, and domains. A part without data is null. Times are in UTC.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId, month: MonthField }),
  response: ClientReport,
  etag: true,

  async handle({ tx, site, now, config }, { params }) {
    const report = await reportOf(tx, { site, month: monthNamed(params.month), now, config })
    if (!report) throw notFound()
    return report
  },
})
