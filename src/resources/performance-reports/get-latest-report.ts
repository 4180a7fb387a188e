import Type from 'typebox'
import { nullable, timestamp } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { latestReport, type StoredReport } from './report.store.ts'
import { type Device, PerformanceReport, pictureLocation } from './report.ts'

export const getLatestReport = endpoint({
  id: 'getLatestPerformanceReport',
  method: 'GET',
  path: '/v1/sites/{id}/reports/performance/latest',
  summary: 'Get the latest performance report',
  description: '`data` is null if the site has no report yet. Values that Lighthouse could not measure are null.',
  access: { site: 'read the site' },
  params: Type.Object({ id: SiteId }),
  response: nullable(PerformanceReport),
  etag: true,

  async handle({ tx, site }) {
    const report = await latestReport(tx, site.id)
    if (!report) return null
    return { desktop_report: half(site.id, report, 'desktop'), mobile_report: half(site.id, report, 'mobile') }
  },
})

function half(siteId: number, report: StoredReport, device: Device): object {
  const { id, createdAt, hasThumbnail } = report
  return {
    created_at: timestamp(createdAt),
    updated_at: timestamp(createdAt),
    thumbnail_location: hasThumbnail[device] ? pictureLocation(siteId, id, device) : null,
    ...report[device],
  }
}
