import type { MonitoringStateRow } from '../tables.ts'
import type { SiteFinding } from './finding.ts'
import type { SiteToAsk } from './monitor.store.ts'

/** The state of a site as one edge stores it. `unknown`: its domain has never led here. */
export interface Said extends Pick<MonitoringStateRow, 'state' | 'reason' | 'detail'> {
  /** Milliseconds UTC. */
  readonly since: number
}

/** A time on both clocks: the wall clock may jump. */
export interface Moment {
  /** Milliseconds UTC. */
  readonly at: number
  /** Monotonic milliseconds. */
  readonly ms: number
}

/** A site that this edge asks. */
export interface WatchedSite extends SiteToAsk {
  /** What is known. Undefined until the first answer. */
  said: Said | undefined
  /** A finding that differs from what is known, until it is confirmed, and when it came. */
  doubt: { readonly finding: SiteFinding; readonly when: Moment } | undefined
  /** Whether the name has led here before. */
  hasLed: boolean
  /** Counts questions. Every fifth asks for a page of PHP. */
  turn: number
  /** When PHP last answered, monotonic. */
  pageAtMs: number
  /** Questions until the next one with the name and the certificate. */
  fullIn: number
  isAsking: boolean
  asked: number
  slow: number
  failed: number
}

/** 32 bits that spread consecutive numbers. */
export const spreadOf = (siteId: number): number => {
  const mixed = Math.imul(siteId ^ (siteId >>> 16), 0x45d9f3b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}

/** Every fifth question asks for a page that no cache answers. */
export const PAGE_EVERY = 5
/** A sleeping site wakes for a question once a day at most. */
export const WAKE_EVERY_MS = 86_400_000

/** @param nowMs monotonic; sites that sleep when the edge starts wake in the course of a day, not together */
export function watchedSite(site: SiteToAsk, row: MonitoringStateRow | undefined, nowMs: number): WatchedSite {
  const spread = spreadOf(site.siteId)
  const same = row?.host_name === site.hostName ? row : undefined
  return {
    ...site,
    said: same && { state: same.state, reason: same.reason, detail: same.detail, since: same.since },
    doubt: undefined,
    hasLed: same !== undefined && same.state !== 'unknown' && same.state !== 'paused',
    turn: spread % PAGE_EVERY,
    pageAtMs: nowMs - (spread % WAKE_EVERY_MS),
    fullIn: 0,
    isAsking: false,
    asked: 0,
    slow: 0,
    failed: 0,
  }
}

/**
 * Decides what a finding changes. News must come twice, so that a lost packet causes no incident. Only a first good
 * answer counts at once.
 * @returns the new state, `doubt` if the next question must come soon, or undefined if nothing changes
 */
export function weigh(site: WatchedSite, finding: SiteFinding, when: Moment): Said | 'doubt' | undefined {
  const { said, doubt } = site
  site.doubt = undefined
  if (said?.state === finding.state) {
    count(site, finding)
    return said.detail === finding.detail ? undefined : { ...finding, since: said.since }
  }
  const isKnown = said !== undefined && said.state !== 'paused' && said.state !== 'unknown'
  if (!doubt && (isKnown || finding.state !== 'up')) {
    site.doubt = { finding, when }
    return 'doubt'
  }
  count(site, finding)
  return { ...finding, since: (doubt?.finding.state === finding.state ? doubt.when : when).at }
}

function count(site: WatchedSite, { state }: SiteFinding): void {
  site.asked++
  if (state === 'slow') site.slow++
  if (state === 'down') site.failed++
}

/** Returns the finding of the first thing that fails on a visitor's way: the name, the certificate, the page. */
export function faultOnTheWay(
  dns: string | undefined,
  tls: string | undefined,
  page: SiteFinding,
  hasLed: boolean,
): SiteFinding | 'never led here' {
  if (dns !== undefined) return hasLed ? { state: 'down', reason: 'dns', detail: dns } : 'never led here'
  if (tls !== undefined) return { state: 'down', reason: 'tls', detail: tls }
  return page
}
