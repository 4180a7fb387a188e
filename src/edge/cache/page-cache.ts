import { Budget, type BudgetTerms } from '../../platform/budgets/budget.ts'
import type { Route } from '../route.ts'
import { anyNumber, type UnderWay } from '../under-way.ts'
import type { Upstreams } from '../upstreams.ts'
import type { Rule, Visit } from '../visit.ts'
import { isAlive, isAliveFor } from './alive.ts'
import { decide } from './answering.ts'
import type { Cache } from './cache.ts'
import { type Disk, noDisk } from './disk.ts'
import { createCompression } from './encodings.ts'
import type { Entry } from './entry.ts'
import { createGarbage } from './garbage.ts'
import { pageAddress } from './key.ts'
import { createKnownDifferences } from './known-differences.ts'
import { letGo } from './let-go.ts'
import { createMemory } from './memory.ts'
import type { PurgeFeed } from './purge-feed.ts'
import { isRead, looksLikeFile, requestFacts } from './request-facts.ts'
import { select } from './vary.ts'
import { isForVisitor } from './whose.ts'
import { createWorth } from './worth.ts'

export interface PageCacheOptions {
  readonly upstreams: Upstreams
  /** Sent to the hosts as `x-stead-key`. */
  readonly hostKey: string
  readonly purges: PurgeFeed
  readonly memoryBytes: number
  /** Bodies that are no entries yet, by site: a part of `memoryBytes`. */
  readonly bodies?: Budget
  /** Requests to the hosts, the cache's own included. */
  readonly underWay?: UnderWay
  readonly stagingDomain?: string
  readonly disk?: Disk
  /** Larger bodies are passed through. */
  readonly mostBodyBytes?: number
  /** How long a visitor waits for a page that another one is fetching, before it asks the host itself. */
  readonly patienceMs?: number
  /** How many may wait for one page. */
  readonly mostWaiters?: number
}

/** The cache of an edge process: pages of sites with the edge cache on, files of sites with the CDN on. */
export interface PageCache {
  /** The last rule: what it lets pass goes to the host. */
  readonly rule: Rule
  /** The visit asks for a file that would be answered at once, without the host. */
  holdsFile(visit: Visit): boolean
  /** An address of a site is answered from memory, whatever else its visitors say. @param host as they write it, with its port */
  holdsPage(route: Route, host: string, target: string): boolean
  stats(): CacheFigures
  close(): Promise<void>
}

export interface CacheFigures {
  readonly entries: number
  /** Of `entries`, those that are one of several copies of their address. */
  readonly copies: number
  readonly bytes: number
  /** Of `bytes`, what visitors are reading. */
  readonly heldBytes: number
  /** Of what is no entry (see `bodies`). */
  readonly bodyBytes: number
  readonly diskEntries: number
  readonly diskBytes: number
  readonly fills: number
}

/** Half of what the entries may have, and a part of it: what is on its way there. */
export const bodyTerms = (memoryBytes: number): BudgetTerms => ({
  name: 'edge_bodies',
  what: 'pages and files on their way into the cache of an edge process',
  of: 'memory',
  whose: 'site',
  each: memoryBytes / 4,
  all: memoryBytes / 2,
  over: "the answer passes through at its visitor's pace, and is not cached",
})

/** Of what the entries may have: buffers that nobody uses any more. */
const GARBAGE_PART = 1 / 4
/** Some 10 MB are there without any page. */
const LEAST_GARBAGE = 16 << 20

/** Puts a cache together; it takes part as a rule of the gateway. */
export function createPageCache(given: PageCacheOptions): PageCache {
  const options = {
    mostBodyBytes: Math.min(8 << 20, given.memoryBytes >> 3),
    patienceMs: 10_000,
    mostWaiters: 1_000,
    bodies: new Budget(bodyTerms(given.memoryBytes)),
    underWay: anyNumber,
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
    fills: new Map(),
    differences: createKnownDifferences(),
    worth: createWorth(),
    garbage: createGarbage({
      inUse: () => memory.bytes + options.bodies.used,
      mostBytes: Math.max(options.memoryBytes * GARBAGE_PART, LEAST_GARBAGE),
    }),
    maker: { compression: createCompression(), memory },
  }
  options.purges.subscribe((purge) => letGo(cache, purge))
  return {
    rule: (visit) => decide(cache, visit),
    holdsFile: (visit) => holdsFile(cache, visit),
    holdsPage(route, host, target) {
      const address = pageAddress('https', host, target)
      const entry = address && memory.get(address.key)
      return entry !== undefined && isAlive(cache, entry, route)
    },
    stats: () => ({
      entries: memory.count,
      copies: memory.copies,
      bytes: memory.bytes,
      heldBytes: memory.heldBytes,
      bodyBytes: options.bodies.used,
      diskEntries: options.disk.count,
      diskBytes: options.disk.bytes,
      fills: cache.fills.size,
    }),
    close: () => options.disk.close(),
  }
}

function holdsFile(cache: Cache, visit: Visit): boolean {
  const { route } = visit
  if (!route?.cdn || route.isOutdated || !isRead(visit) || !looksLikeFile(visit.target)) return false
  const address = pageAddress(visit.client.scheme, visit.host, visit.target)
  if (!address) return false
  const { rawHeaders } = visit.request
  const by = cache.differences.of(address.key)
  const selected = by && select(address.key, by, rawHeaders)
  const entry = cache.memory.get(address.key) ?? (selected && cache.memory.get(selected.key))
  if (entry?.tier !== 'file' || !isAlive(cache, entry, route) || !cache.options.purges.isCurrent()) return false
  if (performance.now() - entry.madeAtMs >= entry.lifetime.freshMs) return false
  const facts = requestFacts(rawHeaders)
  return !facts.isPrivate && isForVisitor(entry, facts, visit)
}
