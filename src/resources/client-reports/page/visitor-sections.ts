import { type Html, html } from '../../../platform/mail/html.ts'
import type { ReportContents, ReportedScores } from '../contents.ts'
import { line, noData, section } from './care-sections.ts'
import { compared, dayText, number } from './numbers.ts'

/* What visitors saw. */

export function visitsSection({ visits, month, state }: ReportContents): Html {
  if (!visits) return section('Visitors', line(noData('no visits were counted', state)))
  const { visits: people, views, visits_before: before, days } = visits
  // A month that has just begun always has fewer.
  const comparison = state === 'complete' ? compared(people, before) : ''
  const text = `${number(people)} visits and ${number(views)} page views. ${comparison}`.trim()
  return section('Visitors', html`${line(text)}${bars(days, month)}`)
}

const [WIDTH, HEIGHT, GAP] = [620, 96, 3]

/** Page views of each day, as a drawing. */
function bars(days: readonly number[], month: string): Html {
  const most = Math.max(...days, 1)
  const step = WIDTH / Math.max(days.length, 1)
  const drawn = days.map((views, index) => {
    const height = views === 0 ? 1 : Math.max(2, Math.round((views / most) * HEIGHT))
    const at = { x: (index * step).toFixed(1), width: Math.max(1, step - GAP).toFixed(1) }
    return html`<rect x="${at.x}" y="${HEIGHT - height}" width="${at.width}" height="${height}" rx="1.5"><title>${month}-${String(index + 1).padStart(2, '0')}: ${number(views)}</title></rect>`
  })
  return html`<figure><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Page views of each day" preserveAspectRatio="none">${drawn}</svg>
<figcaption><span>1</span><span>Page views of each day, at most ${number(most)}</span><span>${days.length}</span></figcaption></figure>`
}

export function performanceSection({ performance, state }: ReportContents): Html {
  const title = 'Speed'
  if (!performance) return section(title, line(noData('the speed was not measured', state)))
  const { now, before } = performance
  const pair = (name: string, of: 'desktop' | 'mobile') => score(name, now[of], before?.[of] ?? null)
  return section(
    title,
    html`${line(`Google Lighthouse rates the homepage from 0 to 100. 90 and more is good.`)}
<div class="scores">${pair('Desktop', 'desktop')}${pair('Phone', 'mobile')}</div>
<p class="note">${measuredNote(now, before)}</p>`,
  )
}

function score(name: string, value: number | null, before: number | null): Html {
  const kind = value === null ? 'none' : value >= 90 ? 'good' : value >= 50 ? 'fair' : 'bad'
  const then = before === null || value === null ? html`` : html`<small>${difference(value - before)}</small>`
  return html`<div class="score ${kind}"><b>${value === null ? 'No data' : value}</b><span>${name}</span>${then}</div>`
}

const difference = (points: number): string =>
  points === 0 ? 'As before' : `${points > 0 ? '+' : '−'}${Math.abs(points)} points`

const measuredNote = (now: ReportedScores, before: ReportedScores | null): string =>
  `Measured on ${dayText(now.at)}${before ? `, compared with ${dayText(before.at)}` : ''}.`
