import type { Ask, Cache } from './cache.ts'
import type { FillResult } from './fill.ts'
import { lifetimeOf, tierOf } from './lifetime.ts'
import { pass } from './pass.ts'
import { isPersonal, looksLikeFile } from './request-facts.ts'
import { type Differs, differsBy, select } from './vary.ts'
import { isForVisitor, isPlain, isTelling } from './whose.ts'

/** What is everybody's is not this visitor's. */
export const passOwn = ({ visit, facts }: Ask): undefined =>
  pass(visit, isPersonal(facts) ? 'bypass; detail=cookie' : 'bypass; detail=own-headers')

/** Whether a copy of the address is for what the visitor says by which its copies differ. */
export const isOwnCopy = (
  { key, address, visit }: Ask,
  copy: { readonly key: string; readonly differs: Differs },
): boolean => copy.key === key || copy.key === select(address.key, copy.differs.by, visit.request.rawHeaders)?.key

/** What is alike: pages of a site, or what looks like files, asked for by visitors who say what all say, or more. */
export const kindOf = ({ visit, route, facts, address }: Ask): string =>
  `${route.siteId} ${looksLikeFile(address.target)} ${isPlain(facts, visit)}`

/** Whether it was good to ask for everybody. */
export function learn({ worth }: Cache, ask: Ask, result: FillResult): void {
  if (result.kind === 'uncacheable') worth.unshared(ask.key)
  if (result.kind === 'varies') worth.count(kindOf(ask), false)
  // asked without the visitor's headers or with them, it would have been the same
  if (result.kind === 'uncacheable' && !/^(?:size|unframed)$/.test(result.reason)) worth.count(kindOf(ask), false)
  if (result.kind !== 'entry') return
  const ofUse = isOwnCopy(ask, result.entry) && isForVisitor(result.entry, ask.facts, ask.visit)
  // a request before it was for nothing
  if (!ofUse || ask.waits === 0) worth.count(kindOf(ask), ofUse)
}

/** Lets a visit go to the host, and learns from the answer whether the next is better asked for everybody. */
export function passWatched(cache: Cache, ask: Ask, reason: string): undefined {
  const { visit, route, facts, address } = ask
  pass(visit, reason)
  if (!isTelling(facts, visit)) return
  visit.observers?.push({
    head(status, headers, { renderer, isPrivate, isBrief }) {
      const tier = tierOf(renderer)
      if (status >= 500 || !(tier === 'page' ? route.edgeCache : route.cdn)) return
      const lifetime = lifetimeOf({ status, headers, tier, isPrivate, isBrief }, Date.now())
      const isShared = typeof lifetime !== 'string'
      if (isShared) cache.worth.shared(ask.key)
      else cache.worth.unshared(ask.key)
      const by = (isShared && differsBy(headers)?.by) || []
      if (by.length > 0) cache.differences.learn(address.key, by)
      cache.worth.count(kindOf(ask), isShared && (by.length === 0 || ask.selected !== undefined))
    },
  })
}
