import { varyKeyOf } from './vary-key.ts'

/** The part of the cache that stores a response: pages made by PHP (edge cache), or files (CDN). */
export type Tier = 'page' | 'file'

/** @param renderer as the host names it */
export const tierOf = (renderer: string): Tier => (renderer === 'static' ? 'file' : 'page')

/** How long a response may be used, counted from its creation. */
export interface Lifetime {
  /** How old it was on arrival. The host may have stored it, too. */
  readonly ageMs: number
  readonly freshMs: number
  /** After `freshMs`, served while one request fetches a new one (RFC 5861 §3). */
  readonly staleMs: number
  /** After `freshMs`, served when the host fails (RFC 5861 §4). */
  readonly staleIfErrorMs: number
}

/** What is known about a response before its body. */
export interface ResponseFacts {
  readonly status: number
  /** Raw pairs, flat, end-to-end headers only. */
  readonly headers: readonly string[]
  readonly tier: Tier
  /** The site asked for it not to be stored (`DONOTCACHEPAGE`). */
  readonly isPrivate: boolean
  /** Served by a page cache of the site itself, so that its age is unknown. */
  readonly isBrief?: boolean
}

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR

/**
 * WordPress does not say how long a page is valid. Ten minutes: changes purge it, so only what no hook reports (time
 * itself, files changed from outside) waits that long. Together they stay below the 12 hours for which the nonces in a
 * page are valid.
 */
const GUESSED: Record<Tier, Omit<Lifetime, 'ageMs'>> = {
  page: { freshMs: 600 * SECOND, staleMs: HOUR, staleIfErrorMs: 6 * HOUR },
  file: { freshMs: 600 * SECOND, staleMs: DAY, staleIfErrorMs: 7 * DAY },
}
const NOT_FOUND_MS = 30 * SECOND
/** For a page of unknown age: the site's own cache may serve it for a while after a change. */
const BRIEF_MS = 10 * SECOND
const LONGEST_MS = 365 * DAY

/**
 * Heuristically cacheable statuses (RFC 9110 §15.1). Not 204, which counters answer with, and not 501: a failure is
 * never stored.
 */
const GUESSABLE = new Set([200, 203, 301, 308, 404, 405, 410, 414])
/** Never stored, whatever the site says: parts, and answers that depend on the client or its request rate. */
const NEVER = new Set([206, 304, 401, 403, 407, 408, 421, 425, 429])

/** Other successes, temporary redirects, and errors are stored only with an explicit lifetime. */
const mayBeKept = (status: number): boolean => status >= 200 && status < 500 && !NEVER.has(status)

/**
 * Returns how long a response may be stored, or why it may not (RFC 9111 §3, as a shared cache, with WordPress's
 * needs).
 * @param nowMs wall clock
 */
export function lifetimeOf(response: ResponseFacts, nowMs: number): Lifetime | string {
  const { status, tier } = response
  if (!mayBeKept(status)) return 'status'
  if (response.isPrivate) return 'site'
  const facts = readHeaders(response.headers)
  const varyKey = varyKeyOf(response.headers)
  if (!varyKey) return 'vary'
  if (facts.setsCookie) return 'set-cookie'
  if (facts.encoded) return 'content-encoding'
  const control = directives(facts.cacheControl)
  for (const name of ['no-store', 'private']) if (control.has(name)) return name
  const ageMs = ageOf(facts.age)
  // Stored anyway: each use revalidates it with the host.
  const isAskable = status === 200 && facts.hasValidator && Number.isFinite(ageMs)
  if (control.has('no-cache')) return isAskable ? { ageMs, freshMs: 0, staleMs: 0, staleIfErrorMs: 0 } : 'no-cache'
  const explicitMs = explicitLifetime(control, facts, nowMs)
  if (explicitMs === undefined && (!GUESSABLE.has(status) || facts.pragmaNoCache)) return 'no lifetime'
  // WordPress sends `Vary: Origin` on every REST answer, and plugins send short-lived data there.
  if (explicitMs === undefined && varyKey.by.includes('origin')) return 'vary'
  const guessed = GUESSED[tier]
  const freshMs = limited(status, explicitMs ?? guessed.freshMs)
  if (freshMs <= ageMs && !isAskable) return 'expired'
  if (response.isBrief) {
    const briefMs = Math.min(freshMs, ageMs + BRIEF_MS)
    return { ageMs, freshMs: briefMs, staleMs: 0, staleIfErrorMs: guessed.staleIfErrorMs }
  }
  return { ageMs, freshMs, ...staleTimes(status, control, explicitMs !== undefined && tier === 'page', guessed) }
}

/** Limits missing pages to a short time, whatever the site says: the address may exist a moment later. */
function limited(status: number, freshMs: number): number {
  const most = status >= 400 ? NOT_FOUND_MS : LONGEST_MS
  return Math.min(freshMs, most)
}

function staleTimes(
  status: number,
  control: ReadonlyMap<string, string>,
  isExplicit: boolean,
  guessed: Omit<Lifetime, 'ageMs'>,
): Pick<Lifetime, 'staleMs' | 'staleIfErrorMs'> {
  const never = { staleMs: 0, staleIfErrorMs: 0 }
  // These directives override any permission to serve stale (RFC 9111 §4.2.4).
  if (status >= 400 || control.has('must-revalidate') || control.has('proxy-revalidate')) return never
  const given = (name: string) => secondsOf(control.get(name))
  // s-maxage implies proxy-revalidate, unless the site permits more explicitly (RFC 9111 §5.2.2.10).
  const usual = control.has('s-maxage') ? never : guessed
  return {
    staleMs: given('stale-while-revalidate') ?? (isExplicit ? 0 : usual.staleMs),
    staleIfErrorMs: given('stale-if-error') ?? usual.staleIfErrorMs,
  }
}

interface HeaderFacts {
  cacheControl: string
  /** Each line. */
  readonly expires: string[]
  readonly age: string[]
  date: string
  setsCookie: boolean
  encoded: boolean
  pragmaNoCache: boolean
  hasValidator: boolean
}

function readHeaders(headers: readonly string[]): HeaderFacts {
  const facts: HeaderFacts = {
    cacheControl: '',
    expires: [],
    age: [],
    date: '',
    setsCookie: false,
    encoded: false,
    pragmaNoCache: false,
    hasValidator: false,
  }
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] as string
    switch ((headers[i] as string).toLowerCase()) {
      case 'cache-control':
        facts.cacheControl = facts.cacheControl ? `${facts.cacheControl}, ${value}` : value
        break
      case 'expires':
        facts.expires.push(value)
        break
      case 'date':
        facts.date = value
        break
      case 'set-cookie':
        facts.setsCookie = true
        break
      case 'content-encoding':
      case 'content-range':
        facts.encoded = true
        break
      case 'etag':
      case 'last-modified':
        facts.hasValidator = true
        break
      case 'pragma':
        facts.pragmaNoCache = /no-cache/i.test(value)
        break
      case 'age':
        facts.age.push(value)
    }
  }
  return facts
}

/** Returns the age (RFC 9111 §5.1). Treats an invalid or repeated header as too old for any use. */
function ageOf(lines: readonly string[]): number {
  if (lines.length === 0) return 0
  return (lines.length === 1 ? secondsOf((lines[0] as string).trim()) : undefined) ?? Number.POSITIVE_INFINITY
}

/**
 * Returns the explicit lifetime (RFC 9111 §4.2.1): s-maxage, then max-age, then Expires. Invalid or repeated values
 * count as expired. Expires is compared with the host's own clock if the host sends it.
 */
function explicitLifetime(
  control: ReadonlyMap<string, string>,
  { expires, date }: HeaderFacts,
  nowMs: number,
): number | undefined {
  for (const name of ['s-maxage', 'max-age']) if (control.has(name)) return secondsOf(control.get(name)) ?? 0
  if (expires.length === 0) return undefined
  const at = expires.length === 1 ? httpDate(expires[0] as string) : undefined
  return at === undefined ? 0 : Math.max(0, at - (httpDate(date) ?? nowMs))
}

/** The usual form and the two obsolete ones (RFC 9110 §5.6.7). `Date.parse` accepts much more. */
const HTTP_DATE =
  /^\s*(?:\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT|\w{6,9}, \d\d-\w{3}-\d\d [\d:]{8} GMT|\w{3} \w{3} [ \d]\d [\d:]{8} \d{4})\s*$/i

/** @returns wall clock, or undefined for anything but a date */
function httpDate(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined
  // The obsolete form without a zone is UTC, too.
  const at = Date.parse(/gmt\s*$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(at) ? undefined : at
}

/** Returns directives by lower-case name. The first of two counts. `no-cache="field"` counts as `no-cache`. */
function directives(value: string): Map<string, string> {
  const all = new Map<string, string>()
  for (const match of value.matchAll(/([\w-]+)(?:\s*=\s*(?:"([^"]*)"|([^\s,]*)))?/g)) {
    const name = (match[1] as string).toLowerCase()
    if (!all.has(name)) all.set(name, match[2] ?? match[3] ?? '')
  }
  return all
}

function secondsOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Math.min(Number(text) * SECOND, LONGEST_MS) : undefined
}
