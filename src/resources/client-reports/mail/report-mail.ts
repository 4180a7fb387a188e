import { readableOnWhite } from '../../../colors.ts'
import { letter, type MailBrand } from '../../../platform/mail/letter.ts'
import type { ReportContents } from '../contents.ts'
import { monthNamed, monthTitle } from '../month.ts'
import { number } from '../page/numbers.ts'

/** Returns the mail that carries a report. It has no links: the report is attached. */
export function reportMail(report: ReportContents, { name, color, replyTo }: MailBrand) {
  const { site_name: site, address, uptime, updates, backups, visits } = report
  const month = monthTitle(monthNamed(report.month))
  const facts = [
    uptime && `Uptime: ${uptime.percent} %`,
    updates && `Updates: ${number(updates.done)}`,
    backups && `Backups: ${number(backups.files + backups.databases)}`,
    visits && `Visits: ${number(visits.visits)}`,
  ].filter((each) => each !== null)
  const paragraphs = [
    `The report on ${site} (${address}) for ${month} is attached.`,
    ...(facts.length > 0 ? [`${facts.join('. ')}.`] : []),
    ...(replyTo ? ['If you have questions, reply to this mail.'] : []),
    ...(name ? [name] : []),
  ]
  const brand = name ? { name, color: color && readableOnWhite(color), replyTo } : undefined
  return { ...letter(`${site}: report for ${month}`, paragraphs, brand), replyTo: replyTo ?? undefined }
}
