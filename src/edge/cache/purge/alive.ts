import type { Route } from '../../routing/route.ts'
import type { Cache } from '../cache.ts'
import type { Tier } from '../decide/lifetime.ts'
import type { OriginFetch } from '../origin/origin-fetch.ts'
import type { Entry } from '../store/entry.ts'
import type { PurgeFeed } from './purge-feed.ts'

/** Belongs to this site, is switched on, and no purge that is known has come after it. */
export function isAlive({ options }: Cache, entry: Entry, route: Route): boolean {
  if (entry.siteId !== route.siteId || !(entry.tier === 'page' ? route.edgeCache : route.cdn)) return false
  const epoch = entry.tier === 'page' ? route.cacheEpoch : route.cdnEpoch
  return entry.epoch >= epoch && isAliveFor(options.purges, entry)
}

/** No purge that is known has come after it. */
export const isAliveFor = (purges: PurgeFeed, { siteId, tier, epoch }: Entry): boolean =>
  epoch >= purges.floorOf(siteId, tier)

export const epochOf = ({ options }: Cache, route: Route, tier: Tier): number =>
  Math.max(tier === 'page' ? route.cacheEpoch : route.cdnEpoch, options.purges.floorOf(route.siteId, tier))

/** What it brings is from after every purge that is known. */
export const isCurrentFetch = (cache: Cache, { isDoomed, request }: OriginFetch, route: Route): boolean =>
  !isDoomed &&
  request.siteId === route.siteId &&
  request.epochs.page >= epochOf(cache, route, 'page') &&
  request.epochs.file >= epochOf(cache, route, 'file')
