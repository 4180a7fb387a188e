import type { Budget } from '../../platform/budgets/budget.ts'
import type { InFlightLimiter } from '../gateway/in-flight.ts'
import type { Upstreams } from '../proxy/upstreams.ts'
import type { Route } from '../routing/route.ts'
import type { Visit } from '../visit.ts'
import type { KnownCookies } from './cookies/known-cookies.ts'
import type { PageAddress } from './decide/cache-key.ts'
import type { HitForMiss } from './decide/hit-for-miss.ts'
import type { KnownDifferences } from './decide/known-differences.ts'
import type { RequestFacts } from './decide/request-facts.ts'
import type { Selected } from './decide/vary-key.ts'
import type { OriginFetch } from './origin/origin-fetch.ts'
import type { PurgeFeed } from './purge/purge-feed.ts'
import type { VariantMaker } from './send-entry.ts'
import type { Disk } from './store/disk.ts'
import type { Garbage } from './store/garbage.ts'
import type { Memory } from './store/memory.ts'

export interface PageCacheOptions {
  readonly upstreams: Upstreams
  /** Sent to the hosts as `x-stead-key`. */
  readonly hostKey: string
  readonly purges: PurgeFeed
  readonly memoryBytes: number
  /** Bodies that are not entries yet, by site. A part of `memoryBytes`. */
  readonly bodies?: Budget
  /** Requests to the hosts, including the cache's own. */
  readonly inFlight?: InFlightLimiter
  readonly stagingDomain?: string
  readonly disk?: Disk
  /** Larger bodies pass through. */
  readonly mostBodyBytes?: number
  /** How long a visitor waits for a page that another one fetches, before its own request goes to the host. */
  readonly patienceMs?: number
  /** How many visitors may wait for one page. */
  readonly mostWaiters?: number
}

/** The state that the parts of the cache share. */
export interface Cache {
  readonly options: Required<Omit<PageCacheOptions, 'disk'>> & { readonly disk: Disk }
  readonly memory: Memory
  readonly originFetches: Map<string, OriginFetch>
  readonly differences: KnownDifferences
  readonly hitForMiss: HitForMiss
  readonly cookies: KnownCookies
  /** Sites with a cookie comparison in progress. */
  readonly cookieTrials: Set<number>
  readonly maker: VariantMaker
  readonly garbage: Garbage
}

/** What the cache knows about one visit. */
export interface CacheLookup {
  readonly visit: Visit
  /** How many requests to the host it has waited for without success. */
  readonly waits: number
  readonly route: Route
  readonly facts: RequestFacts
  readonly address: PageAddress
  /** The key to look up: the address, or this visitor's variant of it. */
  readonly key: string
  /** Set when the address has several variants. */
  readonly selected: Selected | undefined
}
