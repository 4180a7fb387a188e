import { LRUCache } from 'lru-cache'
import type { Upstreams } from '../proxy/upstreams.ts'
import type { Route } from './route.ts'

export interface WakeSitesOptions {
  readonly upstreams: Pick<Upstreams, 'ask'>
  readonly hostKey: string
  /** Returns whether its front page is cached, so that the visitor does not wait for PHP. */
  readonly holdsFrontPage: (route: Route) => boolean
  /** Milliseconds, monotonic. */
  readonly now?: () => number
}

/** The meaning is in the header, which visitors cannot send. A host that does not know it has no such file. */
const PATH = '/.stead/wake'

/** The same site is not announced again within this time. */
const SAME_SITE_MS = 10_000
const MOST_SITES = 1000
/** For all sites together, per second: connections are cheap, and PHP is not. */
const MOST_A_SECOND = 5

/**
 * Creates a function that tells a host that a client starts a TLS connection to one of its sites, so that PHP can start
 * before the first request arrives. It is a hint: nobody waits for it, and the host decides what to do.
 */
export function createWakeSites({
  upstreams,
  hostKey,
  holdsFrontPage,
  now = () => performance.now(),
}: WakeSitesOptions) {
  const told = new LRUCache<number, true>({ max: MOST_SITES, ttl: SAME_SITE_MS, ttlResolution: 0, perf: { now } })
  let secondSince = Number.NEGATIVE_INFINITY
  let inSecond = 0
  return (route: Route): void => {
    if (!mayRunPhp(route) || told.has(route.siteId) || holdsFrontPage(route)) return
    if (now() - secondSince >= 1000) {
      secondSince = now()
      inSecond = 0
    }
    if (++inSecond > MOST_A_SECOND) return
    told.set(route.siteId, true)
    const headers = [
      'host',
      route.hostName,
      'x-stead-site',
      String(route.siteId),
      ...(route.place === undefined ? [] : ['x-stead-place', String(route.place)]),
      'x-stead-key',
      hostKey,
      'x-stead-wake',
      '1',
    ]
    upstreams.ask(route.upstream, { method: 'GET', path: PATH, headers }, nobodyListens)
  }
}

/** Returns whether a visitor would get a page of PHP: not one of the edge, and not a challenge. */
const mayRunPhp = ({ state, isClosed, isInMaintenance, defensiveUntilMs = 0 }: Route): boolean =>
  state === 'live' && !isClosed && !isInMaintenance && defensiveUntilMs <= Date.now()

const nobodyListens = { onFirstBytes() {}, onHead() {}, onData() {}, onEnd() {}, onError() {} }
