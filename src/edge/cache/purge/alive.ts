import type { Route } from '../../routing/route.ts'
import type { Cache } from '../cache.ts'
import type { Tier } from '../decide/lifetime.ts'
import type { OriginFetch } from '../origin/origin-fetch.ts'
import type { Entry } from '../store/entry.ts'
import type { PurgeFeed } from './purge-feed.ts'

/** Returns whether the entry belongs to this site, its tier is on, and no known purge is newer. */
export function isEntryAlive({ options }: Cache, entry: Entry, route: Route): boolean {
  if (entry.siteId !== route.siteId || !(entry.tier === 'page' ? route.hasEdgeCache : route.hasCdn)) return false
  const epoch = entry.tier === 'page' ? route.cacheEpoch : route.cdnEpoch
  return entry.epoch >= epoch && isAliveFor(options.purges, entry)
}

/** Returns whether no known purge is newer. */
export const isAliveFor = (purges: PurgeFeed, { siteId, tier, epoch }: Entry): boolean =>
  epoch >= purges.floorOf(siteId, tier)

export const epochOf = ({ options }: Cache, route: Route, tier: Tier): number =>
  Math.max(tier === 'page' ? route.cacheEpoch : route.cdnEpoch, options.purges.floorOf(route.siteId, tier))

/** Returns whether the answer of a fetch is newer than every known purge. */
export const isCurrentFetch = (cache: Cache, { isDoomed, request }: OriginFetch, route: Route): boolean =>
  !isDoomed &&
  request.siteId === route.siteId &&
  request.epochs.page >= epochOf(cache, route, 'page') &&
  request.epochs.file >= epochOf(cache, route, 'file')
