import { busyAnswer } from '../under-way.ts'
import { type Decision, handled, type Visit } from '../visit.ts'
import { isAlive, isCurrentFill } from './alive.ts'
import type { Ask, Cache } from './cache.ts'
import type { Entry } from './entry.ts'
import type { Fill, FillResult } from './fill.ts'
import { pageAddress } from './key.ts'
import { createLeader } from './leader.ts'
import { isOwnCopy, kindOf, passOwn, passWatched } from './learning.ts'
import { forgetAfterWrite } from './let-go.ts'
import { pass } from './pass.ts'
import { isConditional, isPersonal, isPrivateTarget, isRead, looksLikeFile, requestFacts } from './request-facts.ts'
import { sendEntry, type Use, uses } from './send-entry.ts'
import { MOST_FILLS, RETRY_MS, refresh, startFill } from './start-fill.ts'
import { select } from './vary.ts'
import { isForVisitor } from './whose.ts'

/** What becomes of a visit: an answer, or a way to the host. */
export function decide(cache: Cache, visit: Visit): Decision | Promise<Decision> {
  const { route } = visit
  if (!route || !(route.edgeCache || route.cdn) || route.state !== 'live') return undefined
  const address = pageAddress(visit.client.scheme, visit.host, visit.target)
  if (!address) return isRead(visit) ? pass(visit, 'bypass; detail=long-address') : undefined
  if (!isRead(visit)) return forgetAfterWrite(cache, visit, address.key)
  const facts = requestFacts(visit.request.rawHeaders)
  if (facts.isPrivate) return pass(visit, 'request')
  const ask: Ask = { visit, waits: 0, route, facts, address, key: address.key, selected: undefined }
  const entry = cache.memory.get(address.key)
  if (entry && isAlive(cache, entry, route)) return use(cache, ask, entry)
  if (isPrivateTarget(visit.target)) return pass(visit, 'bypass; detail=private-address')
  const by = cache.differences.of(address.key)
  return by ? useCopy(cache, ask, by) : useFromDisk(cache, ask)
}

/** @param by what the copies of the address differ by */
function useCopy(cache: Cache, ask: Ask, by: readonly string[]): Decision | Promise<Decision> {
  const selected = select(ask.address.key, by, ask.visit.request.rawHeaders)
  if (!selected) return pass(ask.visit, 'bypass; detail=long-headers')
  const chosen = { ...ask, selected, key: selected.key }
  const entry = cache.memory.get(chosen.key)
  return entry && isAlive(cache, entry, ask.route) ? use(cache, chosen, entry) : useFromDisk(cache, chosen)
}

/** It is known by now that the address has several copies: looks for the one of this visitor. */
function selectAnew(cache: Cache, ask: Ask): Decision | Promise<Decision> {
  const by = cache.differences.of(ask.address.key)
  // once: by what it differs may change again
  if (!by || ask.waits > 0) return pass(ask.visit, 'miss; detail=not-shared')
  return useCopy(cache, { ...ask, waits: 1 }, by)
}

const useFromDisk = (cache: Cache, ask: Ask): Decision | Promise<Decision> =>
  cache.options.disk.has(ask.key) ? fromDisk(cache, ask) : miss(cache, ask, undefined)

async function fromDisk(cache: Cache, ask: Ask): Promise<Decision> {
  const entry = await cache.options.disk.take(ask.key)
  if (ask.visit.response.destroyed) return handled
  if (!entry || !isAlive(cache, entry, ask.route)) return miss(cache, ask, undefined)
  // somebody may have fetched or read it meanwhile
  const newer = cache.memory.get(entry.key)
  if (newer && isAlive(cache, newer, ask.route)) return use(cache, ask, newer)
  if (!cache.memory.put(entry)) return pass(ask.visit, 'miss; detail=crowded')
  return use(cache, ask, entry)
}

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
  if (cache.worth.isUnshared(ask.key)) return passWatched(cache, ask, 'miss; detail=uncacheable')
  if (cache.options.purges.position === undefined) return pass(visit, 'bypass; detail=starting')
  const underWay = cache.fills.get(ask.key)
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

/** The visitor's own request fetches the page; it gets the answer as it comes. */
function lead(cache: Cache, ask: Ask, fallback: Entry | undefined, known: Entry | undefined): Promise<Decision> {
  const { visit } = ask
  return new Promise((resolve) => {
    const leader = createLeader(visit, ask.facts, cache.memory, {
      pass: () => resolve(undefined),
      decline(head) {
        if (head && head.status >= 500) cache.worth.unshared(ask.key, RETRY_MS)
        resolve(pass(visit, 'miss; detail=not-shared'))
      },
      isOwn: (head) => isOwnCopy(ask, head),
      select() {
        visit.abandon = undefined
        resolve(selectAnew(cache, ask))
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
    if (!isOwnCopy(ask, entry)) return selectAnew(cache, ask)
    // What was fetched for a file may turn out to be a page.
    if (!isForVisitor(entry, ask.facts, ask.visit)) return passOwn(ask)
    if (!fill.isDoomed && isAlive(cache, entry, ask.route)) return send(cache, ask, entry, how)
    // a purge came meanwhile: this answer is from before it
    if (ask.waits === 0) return miss(cache, { ...ask, waits: 1 }, undefined)
  }
  if (result?.kind === 'varies') return selectAnew(cache, ask)
  if (result?.kind === 'failed' && fallback && isAlive(cache, fallback, ask.route))
    return send(cache, ask, fallback, uses.staleIfError)
  return pass(ask.visit, 'miss; collapsed; detail=not-shared')
}
