import { type Html, html } from '../../../platform/mail/html.ts'
import type { ReportContents } from '../contents.ts'
import { dayText, lasted, momentText, number, shortDay } from './numbers.ts'

/* What was done for the site. */

/** A part of a report. Without data, it says so in one line. */
export const section = (title: string, content: Html): Html =>
  html`<section><h2>${title}</h2>
${content}
</section>`

export const line = (text: string): Html => html`<p>${text}</p>`

const within = (state: ReportContents['state']): string => (state === 'complete' ? 'in this month' : 'so far')

export const noData = (why: string, state: ReportContents['state']): string =>
  `There is no data: ${why} ${within(state)}.`

export function availabilitySection({ uptime, month, state }: ReportContents): Html {
  if (!uptime) return section('Availability', line(noData('the site was not monitored', state)))
  const { percent, days, incidents, down_minutes: minutes, list } = uptime
  const sentence =
    incidents === 0
      ? `The site answered ${percent} % of all checks. It was never down.`
      : `The site answered ${percent} % of all checks. It was down ${incidents === 1 ? 'once' : `${number(incidents)} times`}, for ${number(minutes)} minutes in total.`
  return section(
    'Availability',
    html`${line(sentence)}${strip(days, month)}${incidentTable(list)}${more(incidents, list)}`,
  )
}

/** One mark for each day. */
function strip(days: readonly (number | null)[], month: string): Html {
  const marks = days.map((percent, index) => {
    const kind = percent === null ? 'none' : percent >= 99.9 ? 'good' : percent >= 98 ? 'fair' : 'bad'
    const says = `${month}-${String(index + 1).padStart(2, '0')}: ${percent === null ? 'no data' : `${percent} %`}`
    return html`<i class="${kind}" title="${says}"></i>`
  })
  return html`<div class="strip" role="img" aria-label="Uptime of each day">${marks}</div>
<p class="legend"><span><i class="good"></i>99.9 % or more</span><span><i class="fair"></i>98 % or more</span><span><i class="bad"></i>Less</span><span><i class="none"></i>No data</span></p>`
}

const reasons = {
  dns: 'The domain did not lead to the site',
  tls: 'The certificate was not valid',
  status: 'The front page showed an error',
  php: 'The site’s program ended with an error',
  time: 'The site did not answer in time',
} as const

function incidentTable(list: NonNullable<ReportContents['uptime']>['list']): Html {
  if (list.length === 0) return html``
  const rows = list.map(
    ({ began_at, ended_at, reason }) =>
      html`<tr><td>${momentText(began_at)}</td><td>${lasted(began_at, ended_at)}</td><td>${reasons[reason]}</td></tr>`,
  )
  return html`<table><thead><tr><th>Began</th><th>Lasted</th><th>What visitors saw</th></tr></thead><tbody>${rows}</tbody></table>`
}

/** A long list names the first ones. */
const more = (count: number, list: readonly unknown[]): Html =>
  count > list.length ? html`<p class="note">And ${number(count - list.length)} more.</p>` : html``

const badges = { done: 'Done', undone: 'Undone', failed: 'Failed' } as const

export function updatesSection({ updates, month, state }: ReportContents): Html {
  if (!updates) return section('Updates', line(noData('updates were not counted', state)))
  const { done, undone, failed, list, counted_since: since } = updates
  const total = done + undone + failed
  const counted = countedNote(since, month)
  if (total === 0) return section('Updates', html`${line(`No update was needed or made ${within(state)}.`)}${counted}`)
  const rows = list.map(
    ({ at, text, outcome }) =>
      html`<tr><td>${shortDay(at)}</td><td>${text}</td><td><span class="badge ${outcome}">${badges[outcome]}</span></td></tr>`,
  )
  const safe = undone > 0 ? ' An update that changes how the site works is undone, and the site keeps running.' : ''
  return section(
    'Updates',
    html`${line(`${number(done)} done, ${number(undone)} undone, ${number(failed)} failed.${safe}`)}
<table><thead><tr><th>Day</th><th>Update</th><th>Result</th></tr></thead><tbody>${rows}</tbody></table>${more(total, list)}${counted}`,
  )
}

/** Says when Stead began to count, if that was within the month. */
const countedNote = (since: string, month: string): Html =>
  since === `${month}-01` ? html`` : html`<p class="note">Counted since ${dayText(since)}.</p>`

export function backupsSection({ backups, month, state }: ReportContents): Html {
  if (!backups) return section('Backups', line(noData('backups were not counted', state)))
  const { files, databases, proven, not_proven: notProven, counted_since: since } = backups
  const made =
    files + databases === 0
      ? `No backup was made ${within(state)}.`
      : `${number(files)} backups of the files and ${number(databases)} of the database were made.`
  const tested =
    proven + notProven === 0
      ? 'No backup was restored as a test.'
      : `${number(proven)} were restored as a test, and the site worked.${notProven > 0 ? ` ${number(notProven)} test restores failed.` : ''}`
  return section('Backups', html`${line(`${made} ${tested}`)}${countedNote(since, month)}`)
}

export function domainsSection({ domains }: ReportContents): Html {
  const { domains: count, certificates, missing, valid_until: until } = domains
  const names =
    count === 0
      ? 'The site has no domain of its own.'
      : `The site has ${number(count)} ${count === 1 ? 'domain' : 'domains'}.`
  const valid =
    certificates === 0
      ? 'It has no certificate of its own.'
      : `${count === certificates ? 'All' : number(certificates)} ${certificates === 1 && count !== 1 ? 'name has' : 'have'} a valid certificate${until ? `, the first until ${dayText(until)}. It is renewed before` : ''}.`
  const without = missing > 0 ? ` ${number(missing)} still ${missing === 1 ? 'waits' : 'wait'} for one.` : ''
  return section('Domains and certificates', line(`${names} ${valid}${without}`))
}
