/** Formats a share so that only a site that never failed has 100 %. */
const percentText = (percent: number | null): string =>
  percent === null ? '–' : `${percent.toLocaleString(undefined, { maximumFractionDigits: percent >= 99 ? 3 : 1 })} %`

const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })

/** Texts of states and uptime, which several pages show. */
export const uptimeTexts = {
  states: { up: 'Up', slow: 'Slow', down: 'Down', paused: 'Paused', unknown: 'Unknown' },
  reasons: { dns: 'DNS', tls: 'Certificate', status: 'HTTP status', php: 'PHP error', time: 'Response time' },
  percent: percentText,
  bars: (count: number) => `Uptime of the last ${count} days, one bar a day`,
  day: (ago: number, percent: number | null) =>
    `${days.format(new Date(Date.now() - ago * 86_400_000))}: ${percent === null ? 'not monitored' : percentText(percent)}`,
}

export const monitoringTexts = {
  title: 'Monitoring',
  counts: { down: 'Down', slow: 'Slow', up: 'Up', paused: 'Paused' },
  state: 'State',
  head: ['Site', 'State', 'Last 90 days', 'Uptime', 'Since'],
  caption: 'Monitored sites',
  noneTitle: 'No sites match',
  noneText: 'Change or clear the filters.',
  emptyTitle: 'No sites yet',
  empty: 'Stead asks each live site once a minute.',
}

export const siteUptimeTexts = {
  state: 'State',
  percent: 'Uptime, 90 days',
  incidents: 'Incidents, 90 days',
  edges: (asking: number, down: number) =>
    down === 0 ? `${asking} edges ask once a minute` : `${down} of ${asking} edges cannot reach it`,
  days: 'Last 90 days',
  list: 'Incidents',
  head: ['Began', 'Duration', 'Reason', 'What happened'],
  open: 'still down',
  noneTitle: 'No incidents',
  none: 'The site was not down in the last 90 days.',
  more: (shown: number) => `The newest ${shown} incidents`,
  about: 'Times without questions do not count. Maintenance and work by Stead are not incidents.',
  link: 'Uptime and incidents',
  minutes: (count: number) => `${count.toLocaleString()} min`,
  hours: (hours: number, minutes: number) => `${hours.toLocaleString()} h ${minutes} min`,
}
