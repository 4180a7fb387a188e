import { Budget, type BudgetTerms } from '../../platform/budgets/budget.ts'
import type { Route } from '../route.ts'
import { anyNumber, busyAnswer, type UnderWay } from '../under-way.ts'
import type { Upstreams } from '../upstreams.ts'
import { type Decision, handled, type Rule, type Visit } from '../visit.ts'
import { type Disk, noDisk } from './disk.ts'
import { createCompression } from './encodings.ts'
import type { Entry } from './entry.ts'
import { Fill, type FillResult, type Leader } from './fill.ts'
import { fillHeaders } from './fill-headers.ts'
import { isConcerned, type PageAddress, pageAddress } from './key.ts'
import { createLeader } from './leader.ts'
import { kindOf, learn, passOwn, passWatched } from './learning.ts'
import { forgetAfterWrite, letGo } from './let-go.ts'
import type { Tier } from './lifetime.ts'
import { createMemory, type Memory } from './memory.ts'
import { pass } from './pass.ts'
import type { PurgeFeed } from './purge-feed.ts'
import {
  isConditional,
  isPersonal,
  isPrivateTarget,
  isRead,
  looksLikeFile,
  type RequestFacts,
  requestFacts,
} from './request-facts.ts'
import { type CopyMaker, sendEntry, type Use, uses } from './send-entry.ts'
import { isForVisitor } from './whose.ts'
import { createWorth, type Worth } from './worth.ts'

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
  stats(): CacheFigures
  close(): Promise<void>
}

export interface CacheFigures {
  readonly entries: number
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
  over: 'the answer goes through as fast as its visitor takes it, and is not kept',
})

/** After a failed try to fetch a stale page anew. */
const RETRY_MS = 5_000
/** Pages being fetched at a time. */
const MOST_FILLS = 1_024

export interface Cache {
  readonly options: Required<Omit<PageCacheOptions, 'disk'>> & { readonly disk: Disk }
  readonly memory: Memory
  readonly fills: Map<string, Fill>
  readonly worth: Worth
  readonly maker: CopyMaker
}

/** What is known of one visit to the cache. */
export interface Ask {
  readonly visit: Visit
  /** How often it has waited for another one's request in vain. */
  waits: number
  readonly route: Route
  readonly facts: RequestFacts
  readonly address: PageAddress
}

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
    worth: createWorth(),
    maker: { compression: createCompression(), memory },
  }
  options.purges.subscribe((purge) => letGo(cache, purge))
  return {
    rule: (visit) => decide(cache, visit),
    holdsFile: (visit) => holdsFile(cache, visit),
    stats: () => ({
      entries: memory.count,
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
  const entry = address && cache.memory.get(address.key)
  if (entry?.tier !== 'file' || !isAlive(cache, entry, route) || !cache.options.purges.isCurrent()) return false
  return (
    performance.now() - entry.madeAtMs < entry.lifetime.freshMs && !requestFacts(visit.request.rawHeaders).isPrivate
  )
}

function decide(cache: Cache, visit: Visit): Decision | Promise<Decision> {
  const { route } = visit
  if (!route || !(route.edgeCache || route.cdn) || route.state !== 'live') return undefined
  const address = pageAddress(visit.client.scheme, visit.host, visit.target)
  if (!address) return isRead(visit) ? pass(visit, 'bypass; detail=long-address') : undefined
  if (!isRead(visit)) return forgetAfterWrite(cache, visit, address.key)
  const facts = requestFacts(visit.request.rawHeaders)
  if (facts.isPrivate) return pass(visit, 'request')
  const ask = { visit, waits: 0, route, facts, address }
  const entry = cache.memory.get(address.key)
  if (entry && isAlive(cache, entry, route)) return use(cache, ask, entry)
  if (isPrivateTarget(visit.target)) return pass(visit, 'bypass; detail=private-address')
  if (!cache.options.disk.has(address.key)) return miss(cache, ask, undefined)
  return fromDisk(cache, ask)
}

async function fromDisk(cache: Cache, ask: Ask): Promise<Decision> {
  const entry = await cache.options.disk.take(ask.address.key)
  if (ask.visit.response.destroyed) return handled
  if (!entry || !isAlive(cache, entry, ask.route)) return miss(cache, ask, undefined)
  // somebody may have fetched or read it meanwhile
  const newer = cache.memory.get(entry.key)
  if (newer && isAlive(cache, newer, ask.route)) return use(cache, ask, newer)
  if (!cache.memory.put(entry)) return pass(ask.visit, 'miss; detail=crowded')
  return use(cache, ask, entry)
}

/** Belongs to this site, is switched on, and no purge that is known has come after it. */
function isAlive({ options }: Cache, entry: Entry, route: Route): boolean {
  if (entry.siteId !== route.siteId || !(entry.tier === 'page' ? route.edgeCache : route.cdn)) return false
  const epoch = entry.tier === 'page' ? route.cacheEpoch : route.cdnEpoch
  return entry.epoch >= epoch && isAliveFor(options.purges, entry)
}

const isAliveFor = (purges: PurgeFeed, { siteId, tier, epoch }: Entry): boolean => epoch >= purges.floorOf(siteId, tier)

const epochOf = ({ options }: Cache, route: Route, tier: Tier): number =>
  Math.max(tier === 'page' ? route.cacheEpoch : route.cdnEpoch, options.purges.floorOf(route.siteId, tier))

function use(cache: Cache, ask: Ask, entry: Entry): Decision | Promise<Decision> {
  const { visit, route, facts } = ask
  if (!isForVisitor(entry, facts, visit)) return passOwn(ask)
  const overdueMs = performance.now() - entry.madeAtMs - entry.lifetime.freshMs
  // An edge that may have missed a purge asks the host about everything.
  const isKnown = cache.options.purges.isCurrent() && !route.isOutdated
  if (isKnown && overdueMs < 0) return send(cache, ask, entry, uses.hit)
  if (isKnown && overdueMs < entry.lifetime.staleMs) {
    refresh(cache, ask, entry)
    return send(cache, ask, entry, uses.stale)
  }
  return miss(cache, ask, overdueMs < entry.lifetime.staleIfErrorMs ? entry : undefined, entry)
}

function send(cache: Cache, { visit, facts }: Ask, entry: Entry, how: Use): typeof handled {
  cache.memory.touch(entry)
  if (!visit.response.destroyed) sendEntry(visit, entry, facts, how, cache.maker)
  return handled
}

/** Fetches a stale entry anew; nobody waits for it. */
function refresh(cache: Cache, ask: Ask, entry: Entry): void {
  if (entry.isRefreshing || performance.now() < entry.retryAtMs || cache.fills.size >= MOST_FILLS) return
  const fill = startFill(cache, ask, entry)
  if (!fill) return
  entry.isRefreshing = true
  fill.result.then(({ kind }) => {
    entry.isRefreshing = false
    if (kind === 'failed' || kind === 'crowded') entry.retryAtMs = performance.now() + RETRY_MS
  })
}

/**
 * @param fallback what may be served when the host fails
 * @param known what is kept, and may be used when the host says so
 */
function miss(
  cache: Cache,
  ask: Ask,
  fallback: Entry | undefined,
  known: Entry | undefined = undefined,
): Decision | Promise<Decision> {
  const { visit, route, facts, address } = ask
  const isFile = looksLikeFile(address.target)
  if (!(isFile ? route.cdn : route.edgeCache)) return undefined
  if (!isFile && isPersonal(facts)) return pass(visit, 'bypass; detail=cookie')
  if (facts.range !== '' && !fallback) return pass(visit, 'request; detail=range')
  if (cache.worth.isUnshared(address.key)) return passWatched(cache, ask, 'miss; detail=uncacheable')
  if (cache.options.purges.position === undefined) return pass(visit, 'bypass; detail=starting')
  const underWay = cache.fills.get(address.key)
  if (underWay && isCurrentFill(cache, underWay, route)) {
    if (underWay.waiters >= cache.options.mostWaiters) return pass(visit, 'miss; detail=crowded')
    return wait(cache, ask, underWay, fallback, uses.collapsed)
  }
  if (cache.fills.size >= MOST_FILLS) return pass(visit, 'miss; detail=crowded')
  if (!known && cache.worth.isDoubtful(kindOf(ask), address.key))
    return passWatched(cache, ask, 'miss; detail=doubtful')
  if (visit.method !== 'HEAD' && !isConditional(facts) && facts.range === '') return lead(cache, ask, fallback, known)
  const fill = startFill(cache, ask, known, true)
  return fill ? wait(cache, ask, fill, fallback, uses.miss) : busy(cache, ask, fallback)
}

/** The site or the visitor has too many requests under way. */
const busy = (cache: Cache, ask: Ask, fallback: Entry | undefined): Decision =>
  fallback ? send(cache, ask, fallback, uses.staleIfError) : busyAnswer(ask.visit)

const isCurrentFill = (cache: Cache, { isDoomed, request }: Fill, route: Route): boolean =>
  !isDoomed &&
  request.siteId === route.siteId &&
  request.epochs.page >= epochOf(cache, route, 'page') &&
  request.epochs.file >= epochOf(cache, route, 'file')

/** The visitor's own request fetches the page; it gets the answer as it comes. */
function lead(cache: Cache, ask: Ask, fallback: Entry | undefined, known: Entry | undefined): Promise<Decision> {
  const { visit } = ask
  return new Promise((resolve) => {
    const leader = createLeader(visit, ask.facts, cache.memory, {
      pass: () => resolve(undefined),
      decline(head) {
        if (head && head.status >= 500) cache.worth.unshared(ask.address.key, RETRY_MS)
        resolve(pass(visit, 'miss; detail=not-shared'))
      },
      renewed: (entry) => resolve(afterRenewal(cache, ask, fill, entry)),
      answer: resolve,
      fallback: fallback && (() => void resolve(send(cache, ask, fallback, uses.staleIfError))),
    })
    const fill = startFill(cache, ask, known, false, leader)
    if (!fill) {
      resolve(busy(cache, ask, fallback))
      return
    }
    visit.abandon = () => {
      resolve(handled)
      fill.leave()
    }
  })
}

/** What the host says to hold is not what a purge has overtaken meanwhile. */
function afterRenewal(cache: Cache, ask: Ask, fill: Fill | undefined, entry: Entry): Decision {
  if (!fill?.isDoomed && isAlive(cache, entry, ask.route)) return send(cache, ask, entry, uses.validated)
  return pass(ask.visit, 'miss; detail=not-shared')
}

/** Waits for a page that is being fetched: bounded, then the visitor's request goes to the host itself. */
async function wait(cache: Cache, ask: Ask, fill: Fill, fallback: Entry | undefined, how: Use): Promise<Decision> {
  const { visit } = ask
  fill.waiters++
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, cache.options.patienceMs, undefined)
  })
  const gone = new Promise<undefined>((resolve) => {
    visit.abandon = () => resolve(undefined)
  })
  const result = await Promise.race([fill.result, late, gone])
  clearTimeout(timer)
  visit.abandon = undefined
  fill.leaveWaiting()
  return visit.response.destroyed ? handled : afterWaiting(cache, ask, fill, result, fallback, how)
}

function afterWaiting(
  cache: Cache,
  ask: Ask,
  fill: Fill,
  result: FillResult | undefined,
  fallback: Entry | undefined,
  how: Use,
): Decision | Promise<Decision> {
  if (result?.kind === 'entry') {
    const { entry } = result
    // What was fetched for a file may turn out to be a page.
    if (!isForVisitor(entry, ask.facts, ask.visit)) return passOwn(ask)
    if (!fill.isDoomed && isAlive(cache, entry, ask.route)) return send(cache, ask, entry, how)
    // a purge came meanwhile: this answer is from before it
    if (ask.waits++ === 0) return miss(cache, ask, undefined)
  }
  if (result?.kind === 'failed' && fallback && isAlive(cache, fallback, ask.route))
    return send(cache, ask, fallback, uses.staleIfError)
  return pass(ask.visit, 'miss; collapsed; detail=not-shared')
}

/**
 * @param stale what is kept, and asked about
 * @param awaited nobody gets it as it comes, but somebody waits for it
 * @returns undefined when the site or the visitor has too many requests under way
 */
function startFill(
  cache: Cache,
  ask: Ask,
  stale: Entry | undefined,
  awaited = false,
  leader?: Leader,
): Fill | undefined {
  const { visit, route, address } = ask
  const { fills, options } = cache
  const passage = options.underWay.begin(route.siteId, visit)
  if (!passage) return undefined
  const request = {
    key: address.key,
    path: address.path,
    target: address.target,
    siteId: route.siteId,
    upstream: route.upstream,
    headers: fillHeaders(visit, route.siteId, options.hostKey, stale),
    domains: { hostName: visit.hostName, stagingDomain: options.stagingDomain },
    epochs: { page: epochOf(cache, route, 'page'), file: epochOf(cache, route, 'file') },
    tiers: { page: route.edgeCache, file: route.cdn },
    stale,
  }
  const fill: Fill = new Fill(request, options.upstreams, {
    leader,
    isBackground: !leader && !awaited,
    mostBytes: options.mostBodyBytes,
    share: options.bodies.share(route.siteId),
    makeRoom: cache.memory.makeRoom,
    passage,
    keep: (entry) => keep(cache, route, fill, entry),
  })
  fills.set(address.key, fill)
  fill.ended.then(() => passage.end())
  fill.result.then((result) => {
    if (fills.get(address.key) === fill) fills.delete(address.key)
    learn(cache, ask, result)
    // what is there now is not for everybody, and what was is no more
    if (result.kind === 'uncacheable' && stale) cache.memory.remove(stale)
  })
  fill.start()
  return fill
}

/** @returns false when there is no room for it; what a purge has overtaken is not kept, either, and needs none */
function keep(cache: Cache, route: Route, fill: Fill, entry: Entry): boolean {
  fill.isDoomed ||= isConcerned(entry, fill.purged)
  if (fill.isDoomed || entry.epoch < epochOf(cache, route, entry.tier)) return true
  if (!cache.memory.put(entry)) return false
  cache.options.disk.forget(entry.key)
  return true
}
