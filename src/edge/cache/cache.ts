import type { Route } from '../routing/route.ts'
import type { Visit } from '../visit.ts'
import type { KnownCookies } from './cookies/known-cookies.ts'
import type { HitForMiss } from './decide/hit-for-miss.ts'
import type { PageAddress } from './decide/key.ts'
import type { KnownDifferences } from './decide/known-differences.ts'
import type { RequestFacts } from './decide/request-facts.ts'
import type { Selected } from './decide/vary-key.ts'
import type { OriginFetch } from './origin/origin-fetch.ts'
import type { PageCacheOptions } from './page-cache.ts'
import type { VariantMaker } from './send-entry.ts'
import type { Disk } from './store/disk.ts'
import type { Garbage } from './store/garbage.ts'
import type { Memory } from './store/memory.ts'

/** What the parts of the cache share. */
export interface Cache {
  readonly options: Required<Omit<PageCacheOptions, 'disk'>> & { readonly disk: Disk }
  readonly memory: Memory
  readonly originFetches: Map<string, OriginFetch>
  readonly differences: KnownDifferences
  readonly hitForMiss: HitForMiss
  readonly cookies: KnownCookies
  /** Sites of which an answer with cookies is being compared. */
  readonly cookieTrials: Set<number>
  readonly maker: VariantMaker
  readonly garbage: Garbage
}

/** What is known of one visit to the cache. */
export interface CacheLookup {
  readonly visit: Visit
  /** How many requests to the host it has waited for in vain. */
  readonly waits: number
  readonly route: Route
  readonly facts: RequestFacts
  readonly address: PageAddress
  /** What is looked for: the address, or the copy of it that is this visitor's. */
  readonly key: string
  /** Where the address has several copies. */
  readonly selected: Selected | undefined
}
