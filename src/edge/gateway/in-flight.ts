import { addressKey } from '../../platform/budgets/address-key.ts'
import type { Budget, Share } from '../../platform/budgets/budget.ts'
import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer, sendAnswer } from '../answer.ts'
import type { Answer, Visit } from '../visit.ts'

/** One request under way to a host. */
export interface InFlightRequest {
  /** From now on nothing goes on before the visitor sends more, */
  waitsToBeSent(): void
  /** or takes more: what has come of the answer, in the connections to both sides, stays in memory meanwhile. */
  waitsToBeTaken(): void
  /** He has sent or taken so much, and is not waited for. */
  goesOn(bytes: number): void
  end(): void
}

/**
 * Requests under way to hosts, by whom they are for: one slow site, or one visitor, is not to have all connections. Where none is left,
 * whoever keeps one waiting longest goes first.
 */
export interface InFlightLimiter {
  /** @returns undefined when the site or the visitor has too many already, and all of them get on */
  begin(siteId: number, visit: Visit): InFlightRequest | undefined
}

/** Nobody is cut off for others who has not kept them waiting for so long. */
const PATIENCE_MS = 2_000
/** Who is slower than this over such a time keeps a connection for himself, byte by byte. */
const SLOW_BYTES_PER_MS = 1

/** What an answer has in memory that its visitor does not take: measured, 170 to 200 kB. */
const PASSING_BYTES = 192 << 10

/** What is under way may have. */
export interface InFlightLimits {
  readonly bySite: Budget
  readonly byAddress: Budget
  /** Memory for answers that are not taken, by site. Over it the slowest goes as well; who gets on stays. */
  readonly passing?: Budget
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

export function createInFlightLimiter(limits: InFlightLimits): InFlightLimiter {
  const { bySite, byAddress, passing, now = () => performance.now() } = limits
  const inFlightRequests = new Set<OneInFlightRequest>()
  let looksAgain = false
  /** Those that one more would need to make room: of the site, of the visitor, or any. */
  const rivals = (siteId: number, address: string): ((other: OneInFlightRequest) => boolean) => {
    if (bySite.usedBy(siteId) >= bySite.terms.each) return (other) => other.siteId === siteId
    if (byAddress.usedBy(address) >= byAddress.terms.each) return (other) => other.address === address
    return () => true
  }
  const cutSlowest = (isRival: (other: OneInFlightRequest) => boolean): boolean => {
    const nowMs = now()
    let slowest: OneInFlightRequest | undefined
    let slowness = 0
    for (const other of inFlightRequests) {
      const its = isRival(other) ? other.slowness(nowMs) : 0
      if (its > slowness) [slowest, slowness] = [other, its]
    }
    slowest?.cutOff()
    return slowest !== undefined
  }
  const holdMemory = (inFlightRequest: OneInFlightRequest): void => {
    if (!passing) return
    const isFull = passing.usedBy(inFlightRequest.siteId) + PASSING_BYTES > passing.terms.each
    const isRival = (other: OneInFlightRequest) =>
      other.isHolding && (!isFull || other.siteId === inFlightRequest.siteId)
    while (inFlightRequest.isHolding && !inFlightRequest.memory?.take(PASSING_BYTES)) {
      if (cutSlowest(isRival)) continue
      if (!looksAgain) setTimeout(holdLater, PATIENCE_MS).unref()
      looksAgain = true
      return
    }
  }
  /** Those for whom there was no memory, and nobody slow enough to go. */
  const holdLater = () => {
    looksAgain = false
    for (const inFlightRequest of inFlightRequests)
      if (inFlightRequest.memory?.amount === 0) holdMemory(inFlightRequest)
  }
  return {
    begin(siteId, visit) {
      const address = addressKey(visit.client.address)
      const [site, visitor] = [bySite.share(siteId), byAddress.share(address)]
      while (!(site.take(1) && visitor.take(1))) {
        site.free()
        if (!cutSlowest(rivals(siteId, address))) return undefined
      }
      const ended = () => {
        inFlightRequests.delete(inFlightRequest)
        site.free()
        visitor.free()
      }
      const inFlightRequest: OneInFlightRequest = new OneInFlightRequest({
        siteId,
        address,
        visit,
        memory: passing?.share(siteId),
        now,
        holds: () => holdMemory(inFlightRequest),
        ended,
      })
      inFlightRequests.add(inFlightRequest)
      return inFlightRequest
    },
  }
}

interface InFlightFacts {
  readonly siteId: number
  readonly address: string
  readonly visit: Visit
  readonly memory: Share | undefined
  readonly now: () => number
  /** It begins to hold memory. */
  readonly holds: () => void
  readonly ended: () => void
}

class OneInFlightRequest implements InFlightRequest {
  readonly siteId: number
  readonly address: string
  readonly memory: Share | undefined
  readonly #facts: InFlightFacts
  readonly #now: () => number
  /** Undefined while it is not the visitor who is waited for. */
  #waitsSinceMs: number | undefined
  /** Of the time in which the visitor was waited for. */
  #waitedMs = 0
  #bytes = 0
  isHolding = false

  constructor(facts: InFlightFacts) {
    this.siteId = facts.siteId
    this.address = facts.address
    this.memory = facts.memory
    this.#facts = facts
    this.#now = facts.now
  }

  waitsToBeSent(): void {
    this.#waitsSinceMs ??= this.#now()
  }

  waitsToBeTaken(): void {
    this.#waitsSinceMs ??= this.#now()
    if (this.isHolding) return
    this.isHolding = true
    this.#facts.holds()
  }

  goesOn(bytes: number): void {
    this.#bytes += bytes
    if (this.#waitsSinceMs !== undefined) this.#waitedMs += this.#now() - this.#waitsSinceMs
    this.#waitsSinceMs = undefined
    this.#applyPurge()
  }

  #applyPurge(): void {
    this.isHolding = false
    this.memory?.free()
  }

  /** Milliseconds of waiting for each byte that came of it; 0 for who is quick enough, or not waited for. */
  slowness(nowMs: number): number {
    if (this.#waitsSinceMs === undefined) return 0
    const idleMs = nowMs - this.#waitsSinceMs
    const waitedMs = this.#waitedMs + idleMs
    const isSlow = waitedMs >= PATIENCE_MS && this.#bytes < waitedMs * SLOW_BYTES_PER_MS
    return idleMs >= PATIENCE_MS || isSlow ? waitedMs / (this.#bytes + 1) : 0
  }

  /** Its part of the budgets is free at once, its connection in a moment. */
  cutOff(): void {
    const { visit } = this.#facts
    this.end()
    if (visit.response.headersSent) visit.response.destroy()
    else sendAnswer(visit, pageAnswer(visit, tooSlow, [], true))
  }

  end(): void {
    this.#applyPurge()
    this.#facts.ended()
  }
}

/** Without bounds, for tests and comparisons. */
export const anyNumber: InFlightLimiter = {
  begin: () => ({ waitsToBeSent() {}, waitsToBeTaken() {}, goesOn() {}, end() {} }),
}

const busy = plainPage({
  status: 503,
  title: 'This site is busy',
  text: 'It has too many requests at the moment. Please try again in a few seconds.',
})
const tooSlow = plainPage({
  status: 408,
  title: 'This request took too long',
  text: 'It arrived too slowly while others were waiting. Please try again.',
})

export const busyAnswer = (visit: Visit): Answer => pageAnswer(visit, busy, ['Retry-After', '5'])
