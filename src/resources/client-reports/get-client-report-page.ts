import Type from 'typebox'
import { notFound } from '../../platform/http/problem.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { reportOf } from './gather-report.ts'
import { isKnownPage } from './known-page.ts'
import { MonthField, monthNamed } from './month.ts'
import { reportPage } from './page/report-page.ts'
import { lookOf } from './report-look.ts'

export const getClientReportPage = endpoint({
  id: 'getClientReportPage',
  method: 'GET',
  path: '/v1/sites/{site_id}/client-reports/{month}/html',
  summary: 'Get the client report of a month as a page',
  description:
    'An addition of Stead. Returns one HTML file in the colors of the account that owns the site. It has no scripts, loads nothing, and prints on A4.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId, month: MonthField }),
  style: 'stream',
  etag: true,
  contentType: 'text/html',
  response: Type.String({ description: 'The page', examples: ['<!doctype html>…'] }),

  async handle(context, { params }) {
    const { tx, site, now, config, response } = context
    const report = await reportOf(tx, { site, month: monthNamed(params.month), now, config })
    if (!report) throw notFound()
    const page = reportPage(report, await lookOf(tx, site.accountId))
    if (isKnownPage(context, page)) return response.code(304).send(null)
    return response
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-disposition': `inline; filename="report-${report.month}-${site.name}.html"`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:",
        'cache-control': 'private, no-cache',
      })
      .send(page)
  },
})
