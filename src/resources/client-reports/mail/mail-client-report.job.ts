import Type from 'typebox'
import type { Config } from '../../../config.ts'
import { MeasureFailed, MeasureImpossible } from '../../../hosting/page-measure/measure-page.ts'
import type { PrintPage } from '../../../hosting/page-measure/print-page.ts'
import type { Database, Tx } from '../../../platform/db/database.ts'
import { type MailAttachment, type Mailer, MailRefused } from '../../../platform/mail/mailer.ts'
import {
  durableWith,
  type FailureContext,
  PermanentFailure,
  type StepContext,
} from '../../../platform/operations/definition.ts'
import { brandingOf } from '../../branding/public.ts'
import { changeOfJob } from '../../kit/change.ts'
import { findSite, holdSite, type Site } from '../../sites/public.ts'
import { actions, events } from '../actions.ts'
import { storedContents } from '../contents.store.ts'
import type { ReportContents } from '../contents.ts'
import { monthName, monthTitle } from '../month.ts'
import { reportPage } from '../page/report-page.ts'
import { lookOf } from '../report-look.ts'
import { endMail, recipientsOf } from './recipients.store.ts'
import { reportMail } from './report-mail.ts'

const Input = Type.Object({
  siteId: Type.Integer(),
  month: Type.Integer(),
  to: Type.String(),
  key: Type.String(),
  writtenAt: Type.Integer(),
})
type Input = Type.Static<typeof Input>

export interface ReportMailServices {
  readonly database: Database
  readonly config: Config
  readonly mailer: Mailer
  readonly printPage: PrintPage
}

type Context<Results = unknown> = StepContext<Input, ReportMailServices, Results>
/** Why there was nothing to send, or null for a mail that was sent. */
type Delivered = { readonly without: string | null }

/** Pages for mails do not take the turns of accounts. No account has this ID. */
const OF_MAILS = 0

/**
 * Sends the report of a month to one recipient. After a crash between the mail server's acceptance and the record of
 * it, the mail is sent again with the same `Message-ID`. It is retried for one to two days.
 */
export const mailClientReport = durableWith<ReportMailServices>()({
  name: 'client_reports.mail',
  input: Input,
  on: 'control',
  changeableBy: 'account',
  attempts: 16,
  atOnce: 1,
  backoff: { firstMs: 5000, factor: 3, mostMs: 6 * 3_600_000 },
  steps: {
    deliver: { run: deliver },
    done: { commit: note },
  },
  failed: noteFailure,
})

async function deliver(context: Context): Promise<Delivered> {
  const { services, input, operationId, signal } = context
  const { siteId, month, to } = input
  const tx = services.database.read
  const site = await findSite(tx, siteId)
  const report = await storedContents(tx, siteId, month)
  if (!site || !report) return { without: 'The site or its report was deleted' }
  if (!(await recipientsOf(tx, siteId)).includes(to)) return { without: 'The address is no longer a recipient' }
  const look = await lookOf(tx, site.accountId)
  const { replyTo } = await brandingOf(tx, site.accountId)
  const { html, ...mail } = reportMail(report, { name: look.name, color: look.color, replyTo })
  const attachment = await attach(context, { site, report, page: reportPage(report, look) })
  const { key, writtenAt } = input
  const message = { ...mail, html: html.html, to, id: `${operationId}.${key}`, operationId, writtenAt, attachment }
  try {
    await services.mailer.deliver(message, signal)
  } catch (error) {
    // A retry would get the same answer (RFC 5321 §4.2.1: 5yz).
    if (error instanceof MailRefused) throw new PermanentFailure(error.message)
    throw error
  }
  return { without: null }
}

/** Returns the report as PDF, or as HTML where no browser can print it. */
async function attach(
  { services, signal, attempt }: Context,
  { site, report, page }: { site: Site; report: ReportContents; page: string },
): Promise<MailAttachment> {
  const name = `report-${report.month}-${site.name}`
  try {
    const content = await services.printPage({ html: page, accountId: OF_MAILS, signal })
    return { name: `${name}.pdf`, type: 'application/pdf', content }
  } catch (error) {
    // A browser that failed may work the next time.
    if (!(error instanceof MeasureImpossible || (error instanceof MeasureFailed && attempt > 1))) throw error
    return { name: `${name}.html`, type: 'text/html', content: Buffer.from(page) }
  }
}

async function note(tx: Tx, context: Context<{ deliver: Delivered }>): Promise<void> {
  const { input, results, now } = context
  const { siteId, month, to } = input
  const { without } = results.deliver
  await endMail(tx, { siteId, month, address: to }, without === null ? { sent_at: now() } : { fault: without })
  if (without !== null || !(await holdSite(tx, siteId))) return
  await changeOfJob(tx, { ...context, siteId }).record({
    action: actions['client_report.sent'],
    message: `Sent the report of ${monthTitle(month)} to ${to}`,
    event: { type: events.client_report_sent, data: { month: monthName(month), recipient: to } },
  })
}

async function noteFailure(tx: Tx, context: FailureContext<Input>): Promise<void> {
  const { siteId, month, to } = context.input
  const fault = context.canceled ? 'It was canceled' : 'The mail server did not accept it'
  await endMail(tx, { siteId, month, address: to }, { fault })
  if (!(await holdSite(tx, siteId))) return
  await changeOfJob(tx, { ...context, siteId }).record({
    action: actions['client_report.not_sent'],
    message: `The report of ${monthTitle(month)} was not sent to ${to}: ${fault}`,
  })
}
