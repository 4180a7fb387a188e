import type { Route } from '../route.ts'
import { epochOf } from './alive.ts'
import type { Ask, Cache } from './cache.ts'
import type { Entry } from './entry.ts'
import { Fill, type FillRequest, type Leader } from './fill.ts'
import { fillHeaders } from './fill-headers.ts'
import { isConcerned } from './key.ts'
import { learn } from './learning.ts'

/** After a failed try to fetch a stale page anew. */
export const RETRY_MS = 5_000
/** Pages being fetched at a time. */
export const MOST_FILLS = 1_024

/** Fetches a stale entry anew; nobody waits for it. */
export function refresh(cache: Cache, ask: Ask, entry: Entry): void {
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
 * @param stale what is kept, and asked about
 * @param awaited nobody gets it as it comes, but somebody waits for it
 * @returns undefined when the site or the visitor has too many requests under way
 */
export function startFill(
  cache: Cache,
  ask: Ask,
  stale: Entry | undefined,
  awaited = false,
  leader?: Leader,
): Fill | undefined {
  const { visit, route, address, key, selected } = ask
  const { fills, options } = cache
  const passage = options.underWay.begin(route.siteId, visit)
  if (!passage) return undefined
  const request: FillRequest = {
    key,
    address: address.key,
    by: selected?.by ?? [],
    path: address.path,
    target: address.target,
    siteId: route.siteId,
    upstream: route.upstream,
    headers: fillHeaders(visit, { siteId: route.siteId, hostKey: options.hostKey }, selected, stale),
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
    onDiffers: (by) => cache.differences.learn(address.key, by),
    keep: (entry) => keep(cache, route, fill, entry),
  })
  fills.set(key, fill)
  fill.ended.then(() => {
    passage.end()
    cache.garbage.mayHaveGrown()
  })
  fill.result.then((result) => {
    if (fills.get(key) === fill) fills.delete(key)
    learn(cache, ask, result)
    // what is there now is not for everybody, and what was is no more
    if ((result.kind === 'uncacheable' || result.kind === 'varies') && stale) cache.memory.remove(stale)
  })
  fill.start()
  return fill
}

/** @returns false when there is no room for it; what a purge has overtaken is not kept, either, and needs none */
function keep(cache: Cache, route: Route, fill: Fill, entry: Entry): boolean {
  fill.isDoomed ||= isConcerned(entry, fill.purged)
  if (fill.isDoomed || entry.epoch < epochOf(cache, route, entry.tier)) return true
  const { memory, options } = cache
  if (!memory.put(entry)) return false
  options.disk.forget(entry.key)
  if (entry.copyOf === undefined) return true
  // one copy was for all
  const before = memory.get(entry.copyOf)
  if (before) memory.remove(before)
  options.disk.forget(entry.copyOf)
  return true
}
