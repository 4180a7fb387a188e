import type { Route } from '../../routing/route.ts'
import type { Cache, CacheLookup } from '../cache.ts'
import { isConcerned } from '../decide/cache-key.ts'
import { learn } from '../decide/learning.ts'
import { epochOf } from '../purge/alive.ts'
import type { Entry } from '../store/entry.ts'
import { type FetchLeader, OriginFetch } from './origin-fetch.ts'
import type { OriginRequest } from './origin-head.ts'
import { originRequestHeaders } from './origin-request-headers.ts'

/** The wait after a failed refresh of a stale page. */
export const RETRY_MS = 5_000
/** The most pages that are fetched at once. */
export const MOST_ORIGIN_FETCHES = 1_024

/** Refreshes a stale entry in the background. */
export function refresh(cache: Cache, ask: CacheLookup, entry: Entry): void {
  if (entry.isRefreshing || performance.now() < entry.retryAtMs || cache.originFetches.size >= MOST_ORIGIN_FETCHES)
    return
  const originFetch = startOriginFetch(cache, ask, entry)
  if (!originFetch) return
  entry.isRefreshing = true
  originFetch.result.then(({ kind }) => {
    entry.isRefreshing = false
    if (kind === 'failed' || kind === 'crowded') entry.retryAtMs = performance.now() + RETRY_MS
  })
}

/**
 * @param stale the stored entry to revalidate
 * @param awaited nobody gets it as it arrives, but a visitor waits for it
 * @returns undefined when the site or the visitor has too many requests in flight
 */
export function startOriginFetch(
  cache: Cache,
  ask: CacheLookup,
  stale: Entry | undefined,
  awaited = false,
  leader?: FetchLeader,
): OriginFetch | undefined {
  const { visit, route, address, key, selected } = ask
  const { originFetches, options } = cache
  const inFlightRequest = options.inFlight.begin(route.siteId, visit)
  if (!inFlightRequest) return undefined
  const request: OriginRequest = {
    key,
    address: address.key,
    by: selected?.by ?? [],
    path: address.path,
    target: address.target,
    siteId: route.siteId,
    upstream: route.upstream,
    headers: originRequestHeaders(visit, { route, hostKey: options.hostKey }, selected, stale),
    domains: { hostName: visit.hostName, stagingDomain: options.stagingDomain },
    epochs: { page: epochOf(cache, route, 'page'), file: epochOf(cache, route, 'file') },
    tiers: { page: route.hasEdgeCache ?? false, file: route.hasCdn ?? false },
    stale,
  }
  const originFetch: OriginFetch = new OriginFetch(request, options.upstreams, {
    leader,
    isBackground: !leader && !awaited,
    mostBytes: options.mostBodyBytes,
    share: options.bodies.share(route.siteId),
    makeRoom: cache.memory.makeRoom,
    inFlightRequest,
    onVaryKey: (by) => cache.differences.learn(address.key, by),
    keep: (entry) => keep(cache, route, originFetch, entry),
  })
  originFetches.set(key, originFetch)
  originFetch.ended.then(() => {
    inFlightRequest.end()
    cache.garbage.mayHaveGrown()
  })
  originFetch.result.then((result) => {
    if (originFetches.get(key) === originFetch) originFetches.delete(key)
    learn(cache, ask, result)
    // The new answer is not for everyone, and the old one is no longer valid.
    if ((result.kind === 'uncacheable' || result.kind === 'varies') && stale) cache.memory.remove(stale)
  })
  originFetch.start()
  return originFetch
}

/** @returns false when it does not fit. An entry that a purge has overtaken is not stored, and needs no room */
function keep(cache: Cache, route: Route, originFetch: OriginFetch, entry: Entry): boolean {
  originFetch.isDoomed ||= isConcerned(entry, originFetch.purged)
  if (originFetch.isDoomed || entry.epoch < epochOf(cache, route, entry.tier)) return true
  const { memory, options } = cache
  if (!memory.put(entry)) return false
  options.disk.forget(entry.key)
  if (entry.variantOf === undefined) return true
  // One variant was for all.
  const before = memory.get(entry.variantOf)
  if (before) memory.remove(before)
  options.disk.forget(entry.variantOf)
  return true
}
