import { addressKey } from '../../../platform/budgets/address-key.ts'
import type { AnswerListener } from '../../host-client/host-exchange.ts'
import { responseHeaders } from '../../proxy/forwarding.ts'
import type { ResponseObserver } from '../../visit.ts'
import type { Cache, CacheLookup } from '../cache.ts'
import { lifetimeOf, tierOf } from '../decide/lifetime.ts'
import { cookiesToLearn, isConditional } from '../decide/request-facts.ts'
import { originRequestHeaders } from '../origin/origin-request-headers.ts'
import { pass } from '../pass.ts'
import { epochOf, isEntryAlive } from '../purge/alive.ts'
import type { Entry } from '../store/entry.ts'
import { type ComparedAnswer, differenceOf, MOST_NOISE } from './answer-difference.ts'
import type { CookieVisit } from './known-cookies.ts'

/** Larger pages are not compared. */
const MOST_BYTES = 512 << 10
/** The most trials at once in an edge process. A site has one at a time. */
const MOST_TRIALS = 16
/** The most cookies of a visit that are compared together. */
const MOST_COMPARED = 4

/**
 * Lets a visit go to the host when its cookies change answers of the site, or when that is not known yet. A page that
 * is stored is then compared with the answer.
 * @param entry what the visitor would get
 * @returns whether the host answers
 */
export function passForCookies(cache: Cache, lookup: CacheLookup, entry: Entry | undefined): boolean {
  const { visit, route, facts, address } = lookup
  if (entry?.tier === 'file') return false
  const pairs = cookiesToLearn(facts)
  if (pairs.length === 0) return false
  const { cookies } = cache
  if (cookies.counts(route.siteId, pairs)) {
    pass(visit, 'bypass; detail=cookie')
    return true
  }
  const known = { siteId: route.siteId, path: address.path, epoch: epochOf(cache, route, 'page') }
  const all: CookieVisit = { ...known, pairs, client: addressKey(visit.client.address) }
  const due = cookies.due(all).slice(0, MOST_COMPARED)
  if (due.length === 0 || !cookies.allow(all)) return false
  pass(visit, 'bypass; detail=new-cookie')
  if (entry) beginTrial(cache, lookup, entry, { ...all, pairs: due })
  return true
}

/** Compares the visitor's own answer first. If it equals the stored page, the host gets no further requests. */
function beginTrial(cache: Cache, lookup: CacheLookup, entry: Entry, cookies: CookieVisit): void {
  const { visit, facts, route } = lookup
  const page = entry.bodies[0] as Buffer
  const isPlainRead = visit.method === 'GET' && !isConditional(facts) && facts.range === ''
  if (!isPlainRead || entry.status !== 200 || page.length > MOST_BYTES) return
  if (cache.cookieTrials.has(route.siteId) || cache.cookieTrials.size >= MOST_TRIALS) return
  cache.cookieTrials.add(route.siteId)
  cache.memory.hold(entry)
  const end = (): void => {
    cache.cookieTrials.delete(route.siteId)
    cache.memory.release(entry)
  }
  const trial = new Trial(cache, lookup, entry, cookies)
  visit.observers?.push(
    watchSame(page, (isSame) => {
      if (isSame) cache.cookies.learnSame(cookies)
      if (isSame !== false) end()
      else trial.run().finally(end)
    }),
  )
}

/** @param done called once, with undefined when the answer was not complete */
function watchSame(page: Buffer, done: (isSame: boolean | undefined) => void): ResponseObserver {
  let isSame = false
  let length = 0
  return {
    head(status, headers, notes) {
      isSame = isShared(status, headers, notes)
    },
    data(piece) {
      isSame &&= piece.equals(page.subarray(length, length + piece.length))
      length += piece.length
    },
    end: () => done(isSame && length === page.length),
    abort: () => done(undefined),
  }
}

interface Notes {
  readonly renderer: string
  readonly isPrivate: boolean
  readonly isBrief: boolean
}

/** Returns whether the answer is a page for everyone. */
const isShared = (status: number, headers: readonly string[], { renderer, isPrivate, isBrief }: Notes): boolean =>
  status === 200 &&
  typeof lifetimeOf({ status, headers, tier: tierOf(renderer), isPrivate, isBrief }, Date.now()) !== 'string'

/**
 * Finds out whether cookies change a page. Each request is the one that fetched the page, without anything else from
 * the visitor. A difference counts if it is larger than between answers without any cookie, and if it shows again the
 * second time.
 */
class Trial {
  readonly #cache: Cache
  readonly #lookup: CacheLookup
  readonly #entry: Entry
  readonly #cookies: CookieVisit
  readonly #page: ComparedAnswer
  readonly #pageKey: string
  #noise = 0
  /** Built while the visitor's connection still exists. */
  readonly #headers: readonly string[]

  constructor(cache: Cache, lookup: CacheLookup, entry: Entry, cookies: CookieVisit) {
    this.#cache = cache
    this.#lookup = lookup
    this.#entry = entry
    this.#cookies = cookies
    this.#pageKey = `${entry.key} ${cookies.epoch}`
    this.#page = { isShared: true, body: entry.bodies[0] as Buffer }
    const { visit, route, selected } = lookup
    const host = { route, hostKey: cache.options.hostKey }
    this.#headers = originRequestHeaders(visit, host, selected, undefined).filter(
      // Pages that the host made ahead for everyone would tell nothing.
      (_text, at, all) => all[at - (at % 2)] !== 'x-stead-for-all',
    )
  }

  async run(): Promise<void> {
    const { cookies } = this.#cache
    const { pairs, siteId } = this.#cookies
    const found = await this.#changing(pairs)
    if (!found || !isEntryAlive(this.#cache, this.#entry, this.#lookup.route)) return
    if (found.length > 0) cookies.learnDifferent(siteId, found)
    else cookies.learnSame(this.#cookies)
  }

  /** @returns undefined when the site does not answer */
  async #changing(pairs: readonly string[]): Promise<readonly string[] | undefined> {
    const before = await this.#changes(pairs)
    if (!before) return before === undefined ? undefined : []
    if (!(await this.#learnNoise())) return undefined
    if (!this.#isLarge(before)) return []
    let some = pairs
    for (const pair of pairs) {
      const fewer = some.filter((other) => other !== pair)
      if (fewer.length === 0) continue
      const difference = await this.#changes(fewer)
      if (difference === undefined) return undefined
      if (this.#isLarge(difference)) some = fewer
    }
    if (!(await this.#learnNoise())) return undefined
    const again = await this.#changes(some)
    if (again === undefined) return undefined
    return this.#isLarge(again) ? some : []
  }

  #isLarge(difference: number): boolean {
    const noise = Math.max(this.#noise, this.#cache.cookies.noiseOf(this.#pageKey))
    return noise <= MOST_NOISE && difference > noise
  }

  async #learnNoise(): Promise<boolean> {
    const difference = await this.#changes([])
    if (difference === undefined) return false
    this.#noise = Math.max(this.#noise, difference)
    // A larger difference usually means another page, which tells nothing about the next one.
    if (difference <= MOST_NOISE) this.#cache.cookies.learnNoise(this.#pageKey, difference)
    return true
  }

  async #changes(pairs: readonly string[]): Promise<number | undefined> {
    const answer = await this.#ask(pairs)
    return answer && differenceOf(this.#page, answer)
  }

  /** @returns undefined for no answer or a refusal: a firewall refuses values, whatever the name */
  #ask(pairs: readonly string[]): Promise<ComparedAnswer | undefined> {
    const { options } = this.#cache
    const { visit, route, address } = this.#lookup
    const inFlightRequest = options.inFlight.begin(route.siteId, visit)
    if (!inFlightRequest) return Promise.resolve(undefined)
    const share = options.bodies.share(route.siteId)
    const cookie = pairs.length > 0 ? ['cookie', pairs.join('; ')] : []
    const request = { method: 'GET', path: address.target, headers: [...this.#headers, ...cookie] }
    const answered = new Promise<ComparedAnswer | undefined>((resolve) => {
      const pieces: Buffer[] = []
      let shared = false
      const listener: AnswerListener = {
        onFirstBytes() {},
        onHead(status, _reason, raw) {
          const domains = { hostName: visit.hostName, stagingDomain: options.stagingDomain }
          const { headers, notes } = responseHeaders(raw, domains)
          shared = isShared(status, headers, notes)
          if (status < 400 && tierOf(notes.renderer) === 'page') return
          resolve(undefined)
          control.abort()
        },
        onData(piece) {
          if (share.amount + piece.length <= MOST_BYTES * 2 && share.take(piece.length)) pieces.push(piece)
          else control.abort()
        },
        onEnd: () => resolve({ isShared: shared, body: Buffer.concat(pieces) }),
        onError: () => resolve(undefined),
      }
      const control = options.upstreams.ask(route.upstream, request, listener)
    })
    return answered.finally(() => {
      share.free()
      inFlightRequest.end()
    })
  }
}
