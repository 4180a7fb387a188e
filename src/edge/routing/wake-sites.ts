import { LRUCache } from 'lru-cache'
import type { Upstreams } from '../proxy/upstreams.ts'
import type { Route } from './route.ts'

export interface WakeSitesOptions {
  readonly upstreams: Pick<Upstreams, 'ask'>
  readonly hostKey: string
  /** Its front page lies here, so that a visitor waits for nobody's PHP. */
  readonly holdsFrontPage: (route: Route) => boolean
  /** Milliseconds, monotonic. */
  readonly now?: () => number
}

/** The header says what is meant, which no visitor can send; a host that does not know it has no such file. */
const PATH = '/.stead/wake'

/** The same site is not announced again within. */
const SAME_SITE_MS = 10_000
const MOST_SITES = 1000
/** Of all sites together, in a second: connections are cheap, and PHP is not. */
const MOST_A_SECOND = 5

/**
 * Tells a host that somebody begins to speak TLS with one of its sites: PHP that does not run can start while the visitor is still on his way
 * to his first request. It is a hint: nobody waits for it, and what becomes of it is the host's to decide.
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
      'x-stead-key',
      hostKey,
      'x-stead-wake',
      '1',
    ]
    upstreams.ask(route.upstream, { method: 'GET', path: PATH, headers }, nobodyListens)
  }
}

/** A visitor gets a page of PHP: not of the edge's own, and no task that holds floods off. */
const mayRunPhp = ({ state, isClosed, maintenance, defensiveUntilMs = 0 }: Route): boolean =>
  state === 'live' && !isClosed && !maintenance && defensiveUntilMs <= Date.now()

const nobodyListens = { onFirstBytes() {}, onHead() {}, onData() {}, onEnd() {}, onError() {} }
