import type { Cache, CacheLookup } from '../cache.ts'
import type { OriginFetchResult } from '../origin/origin-fetch.ts'
import { pass } from '../pass.ts'
import { lifetimeOf, tierOf } from './lifetime.ts'
import { isPersonal, looksLikeFile } from './request-facts.ts'
import { isForVisitor, isPlain, isTelling } from './shareability.ts'
import { select, type VaryKey, varyKeyOf } from './vary-key.ts'

/** What is everybody's is not this visitor's. */
export const passOwn = ({ visit, facts }: CacheLookup): undefined =>
  pass(visit, isPersonal(facts) ? 'bypass; detail=cookie' : 'bypass; detail=own-headers')

/** Whether a copy of the address is for what the visitor says by which its copies differ. */
export const isOwnVariant = (
  { key, address, visit }: CacheLookup,
  copy: { readonly key: string; readonly varyKey: VaryKey },
): boolean => copy.key === key || copy.key === select(address.key, copy.varyKey.by, visit.request.rawHeaders)?.key

/** What is alike: pages of a site, or what looks like files, asked for by visitors who say what all say, or more. */
export const kindOf = ({ visit, route, facts, address }: CacheLookup): string =>
  `${route.siteId} ${looksLikeFile(address.target)} ${isPlain(facts, visit)}`

/** Whether it was good to ask for everybody. */
export function learn({ hitForMiss }: Cache, lookup: CacheLookup, result: OriginFetchResult): void {
  if (result.kind === 'uncacheable') hitForMiss.unshared(lookup.key)
  if (result.kind === 'varies') hitForMiss.count(kindOf(lookup), false)
  // asked without the visitor's headers or with them, it would have been the same
  if (result.kind === 'uncacheable' && !/^(?:size|unframed)$/.test(result.reason))
    hitForMiss.count(kindOf(lookup), false)
  if (result.kind !== 'entry') return
  const ofUse = isOwnVariant(lookup, result.entry) && isForVisitor(result.entry, lookup.facts, lookup.visit)
  // a request before it was for nothing
  if (!ofUse || lookup.waits === 0) hitForMiss.count(kindOf(lookup), ofUse)
}

/** Lets a visit go to the host, and learns from the answer whether the next is better asked for everybody. */
export function passWatched(cache: Cache, lookup: CacheLookup, reason: string): undefined {
  const { visit, route, facts, address } = lookup
  pass(visit, reason)
  if (!isTelling(facts, visit)) return
  visit.observers?.push({
    head(status, headers, { renderer, isPrivate, isBrief }) {
      const tier = tierOf(renderer)
      if (status >= 500 || !(tier === 'page' ? route.edgeCache : route.cdn)) return
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
