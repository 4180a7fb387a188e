import { readableOnWhite, textOn } from '../../../colors.ts'
import { type Html, html } from '../../../platform/mail/html.ts'
import type { ReportContents } from '../contents.ts'
import { monthNamed, monthTitle } from '../month.ts'
import { availabilitySection, backupsSection, domainsSection, updatesSection } from './care-sections.ts'
import { dayText, number } from './numbers.ts'
import { reportStyles } from './report-styles.ts'
import { performanceSection, visitsSection } from './visitor-sections.ts'

/** How the pages of an agency look. */
export interface ReportLook {
  /** Empty: the report names no agency. */
  readonly name: string
  /** `#rrggbb` */
  readonly color: string
  /** An address that begins with `data:image/`. */
  readonly logo: string | null
}

/** The accent color of reports without one. */
export const USUAL_COLOR = '#1f4fd8'

/** Returns a report as one file without scripts, and without anything that is loaded from elsewhere. */
export function reportPage(report: ReportContents, look: ReportLook): string {
  const title = `${report.site_name}: ${monthTitle(monthNamed(report.month))}`
  // Checked here again: it becomes part of the styles.
  const color = /^#[0-9a-f]{6}$/i.test(look.color) ? look.color : USUAL_COLOR
  const colors = `:root{--accent:${color};--on-accent:${textOn(color)};--link:${readableOnWhite(color)}}`
  const styles: Html = { html: `<style>${colors}${reportStyles}</style>` }
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
${styles}
</head>
<body>
<div class="sheet">
${header(report, look)}
<main>
${summary(report)}
${availabilitySection(report)}
${updatesSection(report)}
${backupsSection(report)}
${visitsSection(report)}
${performanceSection(report)}
${domainsSection(report)}
</main>
${footer(report, look)}
</div>
</body>
</html>
`.html
}

function header(report: ReportContents, { name, logo }: ReportLook): Html {
  const isSafe = logo !== null && /^data:image\/(png|jpeg|webp);base64,[A-Za-z0-9+/=]+$/.test(logo)
  const mark = isSafe ? html`<img class="logo" src="${logo}" alt="${name}">` : html`<span class="agency">${name}</span>`
  const soFar = report.state === 'so_far' ? html` <span class="badge">So far</span>` : html``
  return html`<header>
<div class="band">${mark}<span class="kind">Website report</span></div>
<div class="title">
<div><h1>${report.site_name}</h1><p class="address">${report.address}</p></div>
<p class="month">${monthTitle(monthNamed(report.month))}${soFar}</p>
</div>
</header>`
}

/** The numbers that a client reads first. */
function summary({ uptime, updates, backups, visits }: ReportContents): Html {
  const made = backups && backups.files + backups.databases
  const none = 'No data'
  const card = (title: string, value: string, note: string) =>
    html`<div class="fact"><dt>${title}</dt><dd><b class="${value === none ? 'none' : ''}">${value}</b><span>${note}</span></dd></div>`
  return html`<dl class="facts">
${card('Uptime', uptime ? `${uptime.percent} %` : none, uptime ? downNote(uptime.incidents, uptime.down_minutes) : 'The site was not monitored')}
${card('Updates', updates ? number(updates.done) : none, updates ? updateNote(updates) : 'Not counted yet')}
${card('Backups', made === null ? none : number(made), backups ? restoreNote(backups.proven) : 'Not counted yet')}
${card('Visits', visits ? number(visits.visits) : none, visits ? `${number(visits.views)} page views` : 'No visits were counted')}
</dl>`
}

const downNote = (incidents: number, minutes: number): string =>
  incidents === 0 ? 'No downtime' : `${number(minutes)} min down, ${plural(incidents, 'incident')}`

const restoreNote = (proven: number): string =>
  proven === 0 ? 'None was restored as a test' : `${plural(proven, 'test restore')} passed`

const updateNote = ({ done, undone, failed }: { done: number; undone: number; failed: number }): string =>
  done + undone + failed === 0
    ? 'None was needed'
    : undone + failed === 0
      ? 'All went well'
      : `${number(undone)} undone, ${number(failed)} failed`

const plural = (count: number, word: string): string => `${number(count)} ${word}${count === 1 ? '' : 's'}`

function footer(report: ReportContents, { name }: ReportLook): Html {
  const by = name === '' ? '' : `Prepared by ${name}. `
  return html`<footer>${by}As of ${dayText(report.as_of)}. All days and times are in UTC.</footer>`
}
