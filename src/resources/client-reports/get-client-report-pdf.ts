import Type from 'typebox'
import { MeasureFailed, MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import { PrinterBusy } from '../../hosting/page-measure/print-page.ts'
import { notFound, Problem } from '../../platform/http/problem.ts'
import type { Context } from '../kit/context.ts'
import { endpoint } from '../kit/endpoint.ts'
import { SiteId } from '../kit/site-id.ts'
import { reportOf } from './gather-report.ts'
import { isKnownPage } from './known-page.ts'
import { MonthField, monthNamed } from './month.ts'
import { reportPage } from './page/report-page.ts'
import { problems } from './problems.ts'
import { lookOf } from './report-look.ts'

const RETRY_AFTER_S = 5

export const getClientReportPdf = endpoint({
  id: 'getClientReportPdf',
  method: 'GET',
  path: '/v1/sites/{site_id}/client-reports/{month}/pdf',
  summary: 'Get the client report of a month as PDF',
  description:
    'An addition of Stead. Returns the page on A4. It takes a few seconds, and requires Chromium where the API runs.',
  access: { site: 'read the site' },
  params: Type.Object({ site_id: SiteId, month: MonthField }),
  style: 'stream',
  etag: true,
  contentType: 'application/pdf',
  response: Type.String({ format: 'binary', description: 'The file', examples: ['…'] }),
  problems: [problems.pdf_not_possible, problems.too_many_prints],

  async handle(context, { params }) {
    const { tx, site, now, config, response } = context
    const report = await reportOf(tx, { site, month: monthNamed(params.month), now, config })
    if (!report) throw notFound()
    const page = reportPage(report, await lookOf(tx, site.accountId))
    if (isKnownPage(context, page)) return response.code(304).send(null)
    const pdf = await printed(context, page)
    return response
      .headers({
        'content-type': 'application/pdf',
        'content-disposition': `attachment; filename="report-${report.month}-${site.name}.pdf"`,
        'x-content-type-options': 'nosniff',
        'cache-control': 'private, no-cache',
      })
      .send(pdf)
  },
})

/** @throws Problem `pdf_not_possible`, `too_many_prints` */
async function printed({ printPage, caller, response, log }: Context, html: string): Promise<Buffer> {
  const left = new AbortController()
  const onClose = () => left.abort()
  response.raw.once('close', onClose)
  try {
    if (!printPage) throw new MeasureImpossible('this process starts no browser')
    return await printPage({ html, accountId: caller.accountId, signal: left.signal })
  } catch (error) {
    if (error instanceof PrinterBusy)
      throw new Problem(problems.too_many_prints, {}, { headers: { 'retry-after': String(RETRY_AFTER_S) } })
    if (!(error instanceof MeasureFailed || error instanceof MeasureImpossible)) throw error
    log.warn({ err: error }, 'could not print a client report')
    // The message of a browser belongs in the log only.
    const reason = error instanceof MeasureImpossible ? error.message : 'the browser could not print the page'
    throw new Problem(problems.pdf_not_possible, { reason })
  } finally {
    response.raw.off('close', onClose)
  }
}
