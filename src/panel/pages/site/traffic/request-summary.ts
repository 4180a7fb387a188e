import type { components } from '../../../../sdk/api.generated.ts'

export type Request = components['schemas']['ServerLogEntry']

export interface Counted {
  readonly name: string
  readonly count: number
}

export interface Summary {
  readonly count: number
  /** Time of the oldest request, as the API has it. */
  readonly since: string
  /** Each hour since the oldest request, as the start of the hour in milliseconds. */
  readonly hours: readonly { readonly start: number; readonly count: number }[]
  readonly statuses: readonly Counted[]
  readonly pages: readonly Counted[]
  /** Host names of other sites. */
  readonly referrers: readonly Counted[]
  readonly bytes: number
  readonly serverErrors: number
  /** Shares of all requests. */
  readonly withoutPhp: number
  readonly fromCache: number
  /** Seconds. */
  readonly medianTime: number
  readonly slowTime: number
}

const HOUR_SECONDS = 3600
const MOST_SHOWN = 8

/** Sums up requests of the web server log, newest first; undefined without any. */
export function summaryOf(entries: readonly Request[]): Summary | undefined {
  const all = entries.filter(({ type }) => type === 'access')
  const oldest = all.at(-1)
  if (!oldest) return undefined
  const times = all.map(({ request_time }) => request_time).sort((one, other) => one - other)
  const at = (share: number) => times[Math.min(times.length - 1, Math.floor(share * times.length))] ?? 0
  const share = (is: (request: Request) => boolean) => all.filter(is).length / all.length
  return {
    count: all.length,
    since: oldest.date,
    hours: hoursOf(all),
    statuses: countOf(all.map(({ status }) => String(Math.floor(status / 100)))).sort((one, other) =>
      one.name < other.name ? -1 : 1,
    ),
    pages: countOf(all.filter(isPage).map(({ request_url }) => request_url.split('?')[0] ?? '/')).slice(0, MOST_SHOWN),
    referrers: countOf(all.flatMap(referrerOf)).slice(0, MOST_SHOWN),
    bytes: all.reduce((sum, { body_bytes_sent }) => sum + body_bytes_sent, 0),
    serverErrors: all.filter(({ status }) => status >= 500).length,
    withoutPhp: share(({ renderer }) => renderer !== 'php'),
    fromCache: share(({ cached }) => cached === 'HIT'),
    medianTime: at(0.5),
    slowTime: at(0.95),
  }
}

/** Returns whether the path is a page, not a file: a file has an extension. */
const isPage = ({ request_type, request_url, status }: Request): boolean =>
  request_type === 'GET' && status === 200 && !/\.\w{2,5}$/.test(request_url.split('?')[0] ?? '')

function referrerOf({ http_referer, http_host }: Request): string[] {
  const host = URL.canParse(http_referer) ? new URL(http_referer).host : ''
  return host && host !== http_host ? [host] : []
}

/** Most frequent first. */
function countOf(names: readonly string[]): Counted[] {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, count]) => ({ name, count })).sort((one, other) => other.count - one.count)
}

function hoursOf(all: readonly Request[]): { start: number; count: number }[] {
  const starts = all.map(({ timestamp }) => Math.floor(timestamp / HOUR_SECONDS) * HOUR_SECONDS)
  const [first, last] = [Math.min(...starts), Math.max(...starts)]
  const counts = new Map(countOf(starts.map(String)).map(({ name, count }) => [Number(name), count]))
  return Array.from({ length: (last - first) / HOUR_SECONDS + 1 }, (_, hour) => {
    const start = first + hour * HOUR_SECONDS
    return { start: start * 1000, count: counts.get(start) ?? 0 }
  })
}
