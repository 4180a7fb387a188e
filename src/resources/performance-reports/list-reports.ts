import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { type ReportHalf, reportsOfSite } from './report.store.ts'
import { Opportunity } from './report.ts'

const score = () => nullable(Type.Number({ minimum: 0, maximum: 1, description: '0 to 1', examples: [0.98] }))

const PastHalf = Type.Object(
  {
    performance_score: score(),
    accessibility_score: score(),
    best_practices_score: score(),
    seo_score: score(),
    opportunities: Type.Array(Opportunity, { description: 'Improvements, those with the largest effect first' }),
  },
  { title: 'PastPerformance' },
)

export const listReports = endpoint({
  id: 'listPerformanceReports',
  method: 'GET',
  path: '/v1/sites/{id}/reports/performance',
  summary: 'List the performance reports of a site',
  description: 'An addition of Stead. Returns the last ten reports, newest first, with scores and opportunities.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: Type.Array(
    Type.Object(
      { id: Type.Integer(), created_at: Timestamp, desktop: PastHalf, mobile: PastHalf },
      { title: 'PastPerformanceReport' },
    ),
  ),

  async handle({ tx, site }) {
    const reports = await reportsOfSite(tx, site.id)
    return reports.map(({ id, createdAt, desktop, mobile }) => ({
      id,
      created_at: timestamp(createdAt),
      desktop: past(desktop),
      mobile: past(mobile),
    }))
  },
})

const past = ({ measured, opportunities }: ReportHalf) => {
  const of = (name: string) => measured[`${name}_score`] as number | null
  return {
    performance_score: of('performance'),
    accessibility_score: of('accessibility'),
    best_practices_score: of('best_practices'),
    seo_score: of('seo'),
    opportunities: [...opportunities],
  }
}
