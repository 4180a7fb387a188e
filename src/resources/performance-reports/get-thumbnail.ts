import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { oneOf } from '../../platform/http/schemas.ts'
import { endpoint } from '../kit/endpoint.ts'
import { sendPicture } from '../kit/send-picture.ts'
import { SiteId } from '../kit/site-id.ts'
import { findThumbnail } from './report.store.ts'
import { devices } from './report.ts'

export const getThumbnail = endpoint({
  id: 'getPerformanceReportThumbnail',
  method: 'GET',
  path: '/v1/sites/{site_id}/reports/performance/{report_id}/thumbnails/{device}',
  summary: 'Get the screenshot of a performance report',
  description: 'Returns the page as the browser showed it. The path is `thumbnail_location` of a report.',
  access: { site: 'read the site' },
  params: Type.Object({
    site_id: SiteId,
    report_id: Type.Integer({ minimum: 1, examples: [1] }),
    device: oneOf(devices, { examples: ['desktop'] }),
  }),
  style: 'stream',
  etag: true,
  contentType: 'image/jpeg',
  response: Type.String({ format: 'binary', description: 'Screenshot', examples: ['…'] }),

  async handle(context, { params }) {
    const picture = await findThumbnail(context.tx, context.site.id, params.report_id, params.device)
    if (!picture) throw notFound()
    // The picture of a report never changes.
    const version = `${params.report_id}-${params.device}`
    return sendPicture(context, { picture, version, maxAgeS: 86_400 })
  },
})
