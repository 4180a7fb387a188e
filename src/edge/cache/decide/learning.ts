import type { Cache, CacheLookup } from '../cache.ts'
import type { OriginFetchResult } from '../origin/origin-fetch.ts'
import { pass } from '../pass.ts'
import { lifetimeOf, tierOf } from './lifetime.ts'
import { isPersonal, looksLikeFile } from './request-facts.ts'
import { isForVisitor, isPlain, isTelling } from './shareability.ts'
import { select, type VaryKey, varyKeyOf } from './vary-key.ts'

/** Passes a visit to the host because the shared answer is not right for this visitor. */
export const passOwn = ({ visit, facts }: CacheLookup): undefined =>
  pass(visit, isPersonal(facts) ? 'bypass; detail=cookie' : 'bypass; detail=own-headers')

/** Returns whether a variant matches this visitor's headers. */
export const isOwnVariant = (
  { key, address, visit }: CacheLookup,
  copy: { readonly key: string; readonly varyKey: VaryKey },
): boolean => copy.key === key || copy.key === select(address.key, copy.varyKey.by, visit.request.rawHeaders)?.key

/** Groups similar visits: by site, by page or file, and by plain or unusual request headers. */
export const kindOf = ({ visit, route, facts, address }: CacheLookup): string =>
  `${route.siteId} ${looksLikeFile(address.target)} ${isPlain(facts, visit)}`

/** Records whether fetching for everyone was worth it. */
export function learn({ hitForMiss }: Cache, lookup: CacheLookup, result: OriginFetchResult): void {
  if (result.kind === 'uncacheable') hitForMiss.unshared(lookup.key)
  if (result.kind === 'varies') hitForMiss.count(kindOf(lookup), false)
  // The result would be the same with the visitor's headers.
  if (result.kind === 'uncacheable' && !/^(?:size|unframed)$/.test(result.reason))
    hitForMiss.count(kindOf(lookup), false)
  if (result.kind !== 'entry') return
  const ofUse = isOwnVariant(lookup, result.entry) && isForVisitor(result.entry, lookup.facts, lookup.visit)
  // An earlier request was already useless.
  if (!ofUse || lookup.waits === 0) hitForMiss.count(kindOf(lookup), ofUse)
}

/** Passes a visit to the host, and learns from the answer whether the next should be fetched for everyone. */
export function passWatched(cache: Cache, lookup: CacheLookup, reason: string): undefined {
  const { visit, route, facts, address } = lookup
  pass(visit, reason)
  if (!isTelling(facts, visit)) return
  visit.observers?.push({
    head(status, headers, { renderer, isPrivate, isBrief }) {
      const tier = tierOf(renderer)
      if (status >= 500 || !(tier === 'page' ? route.hasEdgeCache : route.hasCdn)) return
      const lifetime = lifetimeOf({ status, headers, tier, isPrivate, isBrief }, Date.now())
      const isShared = typeof lifetime !== 'string'
      if (isShared) cache.hitForMiss.shared(lookup.key)
      else cache.hitForMiss.unshared(lookup.key)
      const by = (isShared && varyKeyOf(headers)?.by) || []
      if (by.length > 0) cache.differences.learn(address.key, by)
      cache.hitForMiss.count(kindOf(lookup), isShared && (by.length === 0 || lookup.selected !== undefined))
    },
  })
}
