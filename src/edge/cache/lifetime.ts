/** Which part of the cache keeps a response: pages made by PHP (edge cache), or files (CDN). */
export type Tier = 'page' | 'file'

/** @param renderer as the host names it */
export const tierOf = (renderer: string): Tier => (renderer === 'static' ? 'file' : 'page')

/** How long a response may be used, from the moment when it was made. */
export interface Lifetime {
  readonly freshMs: number
  /** After that, served while one request fetches a new one (RFC 5861 §3). */
  readonly staleMs: number
  /** After `freshMs`, served when the host fails (RFC 5861 §4). */
  readonly staleIfErrorMs: number
}

/** What is known of a response before its body. */
export interface ResponseFacts {
  readonly status: number
  /** Raw pairs, flat, end-to-end ones only. */
  readonly headers: readonly string[]
  readonly tier: Tier
  /** The site asked for it not to be kept (`DONOTCACHEPAGE`). */
  readonly isPrivate: boolean
}

const SECOND = 1000
const HOUR = 3600 * SECOND
const DAY = 24 * HOUR

/**
 * WordPress says nothing about how long a page is good. Ten minutes: changes purge it, so that only what no hook
 * reports (time itself, files changed from outside) waits that long. All together stay below the 12 hours for
 * which the nonces in a page are good.
 */
const GUESSED: Record<Tier, Lifetime> = {
  page: { freshMs: 600 * SECOND, staleMs: HOUR, staleIfErrorMs: 6 * HOUR },
  file: { freshMs: 600 * SECOND, staleMs: DAY, staleIfErrorMs: 7 * DAY },
}
const NOT_FOUND_MS = 30 * SECOND
const LONGEST_MS = 365 * DAY

/** RFC 9110 §15.1: cacheable without being asked. */
const GUESSABLE = new Set([200, 203, 301, 308, 404, 410])
/** Only when the site says for how long. */
const ON_REQUEST = new Set([302, 303, 307])

/**
 * How long a response may be kept, or why not (RFC 9111 §3, as a shared cache, with what WordPress needs).
 * @param nowMs wall clock
 */
export function lifetimeOf(response: ResponseFacts, nowMs: number): Lifetime | string {
  const { status, tier } = response
  if (!GUESSABLE.has(status) && !ON_REQUEST.has(status)) return 'status'
  if (response.isPrivate) return 'site'
  const facts = readHeaders(response.headers)
  if (facts.varies) return 'vary'
  if (facts.setsCookie) return 'set-cookie'
  if (facts.encoded) return 'content-encoding'
  const control = directives(facts.cacheControl)
  for (const name of ['no-store', 'private', 'no-cache']) if (control.has(name)) return name
  const explicitMs = explicitLifetime(control, facts, nowMs)
  if (explicitMs === undefined && (!GUESSABLE.has(status) || facts.pragmaNoCache)) return 'no lifetime'
  const guessed = GUESSED[tier]
  const freshMs = limited(status, explicitMs ?? guessed.freshMs) - facts.ageMs
  if (freshMs <= 0) return 'expired'
  return { freshMs, ...staleTimes(status, control, explicitMs !== undefined && tier === 'page', guessed) }
}

/** An address that is missing may be there the next moment: short, whatever is said. */
function limited(status: number, freshMs: number): number {
  const most = status === 404 || status === 410 ? NOT_FOUND_MS : LONGEST_MS
  return Math.min(freshMs, most)
}

function staleTimes(
  status: number,
  control: ReadonlyMap<string, string>,
  isExplicit: boolean,
  guessed: Lifetime,
): Omit<Lifetime, 'freshMs'> {
  // RFC 9111 §5.2.2.10: s-maxage implies proxy-revalidate
  const strict = ['must-revalidate', 'proxy-revalidate', 's-maxage'].some((name) => control.has(name))
  if (status >= 400) return { staleMs: 0, staleIfErrorMs: 0 }
  const given = (name: string) => secondsOf(control.get(name))
  const usual = strict ? { staleMs: 0, staleIfErrorMs: 0 } : guessed
  return {
    staleMs: given('stale-while-revalidate') ?? (isExplicit ? 0 : usual.staleMs),
    staleIfErrorMs: given('stale-if-error') ?? usual.staleIfErrorMs,
  }
}

interface HeaderFacts {
  cacheControl: string
  expires: string
  setsCookie: boolean
  encoded: boolean
  varies: boolean
  pragmaNoCache: boolean
  ageMs: number
}

function readHeaders(headers: readonly string[]): HeaderFacts {
  const facts: HeaderFacts = {
    cacheControl: '',
    expires: '',
    setsCookie: false,
    encoded: false,
    varies: false,
    pragmaNoCache: false,
    ageMs: 0,
  }
  for (let i = 0; i < headers.length; i += 2) {
    const value = headers[i + 1] as string
    switch ((headers[i] as string).toLowerCase()) {
      case 'cache-control':
        facts.cacheControl = facts.cacheControl ? `${facts.cacheControl}, ${value}` : value
        break
      case 'expires':
        facts.expires = value
        break
      case 'set-cookie':
        facts.setsCookie = true
        break
      case 'content-encoding':
      case 'content-range':
        facts.encoded = true
        break
      case 'vary':
        facts.varies ||= value.split(',').some((name) => !/^(?:accept-encoding)?$/i.test(name.trim()))
        break
      case 'pragma':
        facts.pragmaNoCache = /no-cache/i.test(value)
        break
      case 'age':
        facts.ageMs = Math.max(0, Number(value) || 0) * SECOND
    }
  }
  return facts
}

/** RFC 9111 §4.2.1: s-maxage, then max-age, then Expires; one that makes no sense counts as expired. */
function explicitLifetime(
  control: ReadonlyMap<string, string>,
  { expires }: HeaderFacts,
  nowMs: number,
): number | undefined {
  for (const name of ['s-maxage', 'max-age']) if (control.has(name)) return secondsOf(control.get(name)) ?? 0
  if (expires === '') return undefined
  const at = Date.parse(expires)
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs)
}

/** Directives by lower-case name; of two the first counts. `no-cache="field"` counts as `no-cache`. */
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
