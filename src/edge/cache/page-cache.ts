import { Budget, type BudgetTerms } from '../../platform/budgets/budget.ts'
import { anyNumber } from '../gateway/in-flight.ts'
import type { Route } from '../routing/route.ts'
import type { Rule, Visit } from '../visit.ts'
import { decide } from './answering.ts'
import type { Cache, PageCacheOptions } from './cache.ts'
import { createKnownCookies } from './cookies/known-cookies.ts'
import { pageAddress } from './decide/cache-key.ts'
import { createHitForMiss } from './decide/hit-for-miss.ts'
import { createKnownDifferences } from './decide/known-differences.ts'
import { isRead, looksLikeFile, requestFacts } from './decide/request-facts.ts'
import { isForVisitor } from './decide/shareability.ts'
import { select } from './decide/vary-key.ts'
import { isAliveFor, isEntryAlive } from './purge/alive.ts'
import { applyPurge } from './purge/apply-purge.ts'
import { noDisk } from './store/disk.ts'
import { createCompression } from './store/encodings.ts'
import type { Entry } from './store/entry.ts'
import { createGarbage } from './store/garbage.ts'
import { createMemory } from './store/memory.ts'

/** The cache of an edge process: pages of sites with the edge cache on, files of sites with the CDN on. */
export interface PageCache {
  /** The last rule: visits that it lets pass go to the host. */
  readonly rule: Rule
  /** Returns whether the visit asks for a file that can be answered at once, without the host. */
  holdsFile(visit: Visit): boolean
  /**
   * Returns whether an address is answered from memory, whatever the request headers. @param host as visitors write it,
   * with its port
   */
  holdsPage(route: Route, host: string, target: string): boolean
  stats(): CacheMetrics
  close(): Promise<void>
}

export interface CacheMetrics {
  readonly entries: number
  /** The `entries` that are variants. */
  readonly variants: number
  readonly bytes: number
  /** The part of `bytes` that visitors are reading. */
  readonly heldBytes: number
  /** Bytes of bodies that are not entries (see `bodies`). */
  readonly bodyBytes: number
  readonly diskEntries: number
  readonly diskBytes: number
  readonly originFetches: number
}

/** Returns the budget of bodies on their way: half of the memory of entries, and a part of it. */
export const bodyTerms = (memoryBytes: number): BudgetTerms => ({
  name: 'edge_bodies',
  what: 'pages and files on their way into the cache of an edge process',
  of: 'memory',
  whose: 'site',
  each: memoryBytes / 4,
  all: memoryBytes / 2,
  over: "the answer passes through at its visitor's pace, and is not cached",
})

/** The share of entry memory that unused buffers may take. */
const GARBAGE_PART = 1 / 4
/** About 10 MB exist without any page. */
const LEAST_GARBAGE = 16 << 20

/** Creates a cache, which works as a rule of the gateway. */
export function createPageCache(given: PageCacheOptions): PageCache {
  const options = {
    mostBodyBytes: Math.min(8 << 20, given.memoryBytes >> 3),
    patienceMs: 10_000,
    mostWaiters: 1_000,
    bodies: new Budget(bodyTerms(given.memoryBytes)),
    inFlight: anyNumber,
    stagingDomain: 'localhost',
    disk: noDisk,
    ...given,
  }
  const onEvict = (entry: Entry) => {
    if (entry.hits > 0 && isAliveFor(options.purges, entry)) options.disk.keep(entry)
  }
  const memory = createMemory(options.memoryBytes, onEvict, () => options.bodies.used)
  const cache: Cache = {
    options,
    memory,
    originFetches: new Map(),
    differences: createKnownDifferences(),
    hitForMiss: createHitForMiss(),
    cookies: createKnownCookies(),
    cookieTrials: new Set(),
    garbage: createGarbage({
      inUse: () => memory.bytes + options.bodies.used,
      mostBytes: Math.max(options.memoryBytes * GARBAGE_PART, LEAST_GARBAGE),
    }),
    maker: { compression: createCompression(), memory },
  }
  options.purges.subscribe((purge) => applyPurge(cache, purge))
  return {
    rule: (visit) => decide(cache, visit),
    holdsFile: (visit) => holdsFile(cache, visit),
    holdsPage(route, host, target) {
      const address = pageAddress('https', host, target)
      const entry = address && memory.get(address.key)
      return entry !== undefined && isEntryAlive(cache, entry, route)
    },
    stats: () => ({
      entries: memory.count,
      variants: memory.variants,
      bytes: memory.bytes,
      heldBytes: memory.heldBytes,
      bodyBytes: options.bodies.used,
      diskEntries: options.disk.count,
      diskBytes: options.disk.bytes,
      originFetches: cache.originFetches.size,
    }),
    close: () => options.disk.close(),
  }
}

function holdsFile(cache: Cache, visit: Visit): boolean {
  const { route } = visit
  if (!route?.hasCdn || route.isOutdated || !isRead(visit) || !looksLikeFile(visit.target)) return false
  const address = pageAddress(visit.client.scheme, visit.host, visit.target)
  if (!address) return false
  const { rawHeaders } = visit.request
  const by = cache.differences.of(address.key)
  const selected = by && select(address.key, by, rawHeaders)
  const entry = cache.memory.get(address.key) ?? (selected && cache.memory.get(selected.key))
  if (entry?.tier !== 'file' || !isEntryAlive(cache, entry, route) || !cache.options.purges.isCurrent()) return false
  if (performance.now() - entry.madeAtMs >= entry.lifetime.freshMs) return false
  const facts = requestFacts(rawHeaders)
  return !facts.isPrivate && isForVisitor(entry, facts, visit)
}
