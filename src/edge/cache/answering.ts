import { busyAnswer } from '../gateway/in-flight.ts'
import { type Decision, handled, type Visit } from '../visit.ts'
import type { Cache, CacheLookup } from './cache.ts'
import { passForCookies } from './cookies/try-cookies.ts'
import { pageAddress } from './decide/cache-key.ts'
import { isOwnVariant, kindOf, passOwn, passWatched } from './decide/learning.ts'
import {
  isConditional,
  isPersonal,
  isPrivateTarget,
  isRead,
  looksLikeFile,
  requestFacts,
} from './decide/request-facts.ts'
import { isForVisitor } from './decide/shareability.ts'
import { select } from './decide/vary-key.ts'
import { createFetchLeader } from './origin/collapsed-forwarding.ts'
import type { OriginFetch, OriginFetchResult } from './origin/origin-fetch.ts'
import { MOST_ORIGIN_FETCHES, RETRY_MS, refresh, startOriginFetch } from './origin/start-origin-fetch.ts'
import { pass } from './pass.ts'
import { isCurrentFetch, isEntryAlive } from './purge/alive.ts'
import { forgetAfterWrite } from './purge/apply-purge.ts'
import { sendEntry, type Use, uses } from './send-entry.ts'
import type { Entry } from './store/entry.ts'

/** Decides how to handle a visit: with an answer, or by passing it to the host. */
export function decide(cache: Cache, visit: Visit): Decision | Promise<Decision> {
  const { route } = visit
  if (!route || !(route.hasEdgeCache || route.hasCdn) || route.state !== 'live') return undefined
  const address = pageAddress(visit.client.scheme, visit.host, visit.target)
  if (!address) return isRead(visit) ? pass(visit, 'bypass; detail=long-address') : undefined
  if (!isRead(visit)) return forgetAfterWrite(cache, visit, address.key)
  const facts = requestFacts(visit.request.rawHeaders)
  if (facts.isPrivate) return pass(visit, 'request')
  const lookup: CacheLookup = { visit, waits: 0, route, facts, address, key: address.key, selected: undefined }
  const entry = cache.memory.get(address.key)
  if (visit.client.looksAt === 'every') return look(cache, lookup, entry)
  if (entry && isEntryAlive(cache, entry, route)) return use(cache, lookup, entry)
  if (isPrivateTarget(address.target)) return pass(visit, 'bypass; detail=private-address')
  const by = cache.differences.of(address.key)
  return by ? useVariant(cache, lookup, by) : useFromDisk(cache, lookup)
}

/**
 * Answers the monitoring with a page that a visitor would get without the host. Otherwise the request goes to the host
 * alone: it stores nothing, and no visitor waits for it.
 */
function look(cache: Cache, { visit, route, facts }: CacheLookup, entry: Entry | undefined): Decision {
  const isFresh =
    entry !== undefined &&
    isEntryAlive(cache, entry, route) &&
    isForVisitor(entry, facts, visit) &&
    cache.options.purges.isCurrent() &&
    !route.isOutdated &&
    performance.now() - entry.madeAtMs < entry.lifetime.freshMs
  if (!isFresh) return pass(visit, 'request')
  sendEntry(visit, entry, facts, uses.hit, cache.maker)
  return handled
}

/** @param by the headers that the variants of the address differ by */
function useVariant(cache: Cache, lookup: CacheLookup, by: readonly string[]): Decision | Promise<Decision> {
  const selected = select(lookup.address.key, by, lookup.visit.request.rawHeaders)
  if (!selected) return pass(lookup.visit, 'bypass; detail=long-headers')
  const chosen = { ...lookup, selected, key: selected.key }
  const entry = cache.memory.get(chosen.key)
  return entry && isEntryAlive(cache, entry, lookup.route) ? use(cache, chosen, entry) : useFromDisk(cache, chosen)
}

/** Looks for this visitor's variant, now that the address is known to have several. */
function selectAnew(cache: Cache, lookup: CacheLookup): Decision | Promise<Decision> {
  const by = cache.differences.of(lookup.address.key)
  // Only once, because the vary key may change again.
  if (!by || lookup.waits > 0) return pass(lookup.visit, 'miss; detail=not-shared')
  return useVariant(cache, { ...lookup, waits: 1 }, by)
}

const useFromDisk = (cache: Cache, lookup: CacheLookup): Decision | Promise<Decision> =>
  cache.options.disk.has(lookup.key) ? fromDisk(cache, lookup) : miss(cache, lookup, undefined)

async function fromDisk(cache: Cache, lookup: CacheLookup): Promise<Decision> {
  const entry = await cache.options.disk.take(lookup.key)
  if (lookup.visit.response.destroyed) return handled
  if (!entry || !isEntryAlive(cache, entry, lookup.route)) return miss(cache, lookup, undefined)
  // Another request may have fetched or read it in the meantime.
  const newer = cache.memory.get(entry.key)
  if (newer && isEntryAlive(cache, newer, lookup.route)) return use(cache, lookup, newer)
  if (!cache.memory.put(entry)) return pass(lookup.visit, 'miss; detail=crowded')
  return use(cache, lookup, entry)
}

/**
 * Without news of purges, a stored page counts for this long after the host has sent or confirmed it. Otherwise a
 * database that is away would lead all visitors of a busy site to its PHP.
 */
const RECENT_MS = 5_000

function use(cache: Cache, lookup: CacheLookup, entry: Entry): Decision | Promise<Decision> {
  const { visit, route, facts } = lookup
  if (!isForVisitor(entry, facts, visit)) return passOwn(lookup)
  if (passForCookies(cache, lookup, entry)) return undefined
  const overdueMs = performance.now() - entry.madeAtMs - entry.lifetime.freshMs
  // An edge that may have missed a purge asks the host, but not for each visitor.
  const isRecent = performance.now() - entry.madeAtMs < RECENT_MS
  const isKnown = (isRecent || cache.options.purges.isCurrent()) && !route.isOutdated
  if (isKnown && overdueMs < 0) return send(cache, lookup, entry, uses.hit)
  if (isKnown && overdueMs < entry.lifetime.staleMs) {
    refresh(cache, lookup, entry)
    return send(cache, lookup, entry, uses.stale)
  }
  return miss(cache, lookup, overdueMs < entry.lifetime.staleIfErrorMs ? entry : undefined, entry)
}

function send(cache: Cache, { visit, facts }: CacheLookup, entry: Entry, how: Use): typeof handled {
  cache.memory.touch(entry)
  if (!visit.response.destroyed) sendEntry(visit, entry, facts, how, cache.maker)
  return handled
}

/**
 * @param fallback may be served when the host fails
 * @param known the stored entry, used if the host confirms it
 */
function miss(
  cache: Cache,
  lookup: CacheLookup,
  fallback: Entry | undefined,
  known: Entry | undefined = undefined,
): Decision | Promise<Decision> {
  const { visit, route, facts, address } = lookup
  const isFile = looksLikeFile(address.target)
  if (!(isFile ? route.hasCdn : route.hasEdgeCache)) return undefined
  if (!isFile && isPersonal(facts)) return pass(visit, 'bypass; detail=cookie')
  if (facts.range !== '' && !fallback) return pass(visit, 'request; detail=range')
  if (cache.hitForMiss.isUnshared(lookup.key)) return passWatched(cache, lookup, 'miss; detail=uncacheable')
  if (cache.options.purges.position === undefined) return pass(visit, 'bypass; detail=starting')
  if (!isFile && !known && passForCookies(cache, lookup, undefined)) return fetchForOthers(cache, lookup)
  const inFlight = cache.originFetches.get(lookup.key)
  if (inFlight && isCurrentFetch(cache, inFlight, route)) {
    if (inFlight.waiters >= cache.options.mostWaiters) return pass(visit, 'miss; detail=crowded')
    return wait(cache, lookup, inFlight, fallback, uses.collapsed)
  }
  if (cache.originFetches.size >= MOST_ORIGIN_FETCHES) return pass(visit, 'miss; detail=crowded')
  if (!known && cache.hitForMiss.isDoubtful(kindOf(lookup), address.key))
    return passWatched(cache, lookup, 'miss; detail=doubtful')
  if (visit.method !== 'HEAD' && !isConditional(facts) && facts.range === '')
    return lead(cache, lookup, fallback, known)
  const originFetch = startOriginFetch(cache, lookup, known, true)
  return originFetch ? wait(cache, lookup, originFetch, fallback, uses.miss) : busy(cache, lookup, fallback)
}

/** Fetches the page for later visits: to store it, or to compare it with the site's answer to cookies. */
function fetchForOthers(cache: Cache, lookup: CacheLookup): undefined {
  if (!cache.originFetches.has(lookup.key) && cache.originFetches.size < MOST_ORIGIN_FETCHES)
    startOriginFetch(cache, lookup, undefined)
}

/** The site or the visitor has too many requests in flight. */
const busy = (cache: Cache, lookup: CacheLookup, fallback: Entry | undefined): Decision =>
  fallback ? send(cache, lookup, fallback, uses.staleIfError) : busyAnswer(lookup.visit)

/** Makes the visitor's own request fetch the page. The visitor gets the answer as it arrives. */
function lead(
  cache: Cache,
  lookup: CacheLookup,
  fallback: Entry | undefined,
  known: Entry | undefined,
): Promise<Decision> {
  const { visit } = lookup
  return new Promise((resolve) => {
    const leader = createFetchLeader(visit, lookup.facts, cache.memory, {
      pass: () => resolve(undefined),
      decline(head) {
        if (head && head.status >= 500) cache.hitForMiss.unshared(lookup.key, RETRY_MS)
        resolve(pass(visit, 'miss; detail=not-shared'))
      },
      isOwn: (head) => isOwnVariant(lookup, head),
      select() {
        visit.abandon = undefined
        resolve(selectAnew(cache, lookup))
      },
      renewed: (entry) => resolve(afterRevalidation(cache, lookup, originFetch, entry)),
      answer: resolve,
      fallback: fallback && (() => void resolve(send(cache, lookup, fallback, uses.staleIfError))),
    })
    const originFetch = startOriginFetch(cache, lookup, known, false, leader)
    if (!originFetch) {
      resolve(busy(cache, lookup, fallback))
      return
    }
    visit.abandon = () => {
      resolve(handled)
      originFetch.leave()
    }
  })
}

/** A purge may have overtaken an entry that the host confirmed. */
function afterRevalidation(
  cache: Cache,
  lookup: CacheLookup,
  originFetch: OriginFetch | undefined,
  entry: Entry,
): Decision {
  if (!originFetch?.isDoomed && isEntryAlive(cache, entry, lookup.route))
    return send(cache, lookup, entry, uses.validated)
  return pass(lookup.visit, 'miss; detail=not-shared')
}

/** Waits for a page that is being fetched. After a limit, the visitor's request goes to the host itself. */
async function wait(
  cache: Cache,
  lookup: CacheLookup,
  originFetch: OriginFetch,
  fallback: Entry | undefined,
  how: Use,
): Promise<Decision> {
  const { visit } = lookup
  originFetch.waiters++
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, cache.options.patienceMs, undefined)
  })
  const gone = new Promise<undefined>((resolve) => {
    visit.abandon = () => resolve(undefined)
  })
  const result = await Promise.race([originFetch.result, late, gone])
  clearTimeout(timer)
  visit.abandon = undefined
  originFetch.leaveWaiting()
  return visit.response.destroyed ? handled : afterWaiting(cache, lookup, originFetch, result, fallback, how)
}

function afterWaiting(
  cache: Cache,
  lookup: CacheLookup,
  originFetch: OriginFetch,
  result: OriginFetchResult | undefined,
  fallback: Entry | undefined,
  how: Use,
): Decision | Promise<Decision> {
  if (result?.kind === 'entry') {
    const { entry } = result
    if (!isOwnVariant(lookup, entry)) return selectAnew(cache, lookup)
    // What was fetched as a file may turn out to be a page.
    if (!isForVisitor(entry, lookup.facts, lookup.visit)) return passOwn(lookup)
    if (!originFetch.isDoomed && isEntryAlive(cache, entry, lookup.route)) return send(cache, lookup, entry, how)
    // A purge arrived in the meantime, so this answer predates it.
    if (lookup.waits === 0) return miss(cache, { ...lookup, waits: 1 }, undefined)
  }
  if (result?.kind === 'varies') return selectAnew(cache, lookup)
  if (result?.kind === 'failed' && fallback && isEntryAlive(cache, fallback, lookup.route))
    return send(cache, lookup, fallback, uses.staleIfError)
  return pass(lookup.visit, 'miss; collapsed; detail=not-shared')
}
