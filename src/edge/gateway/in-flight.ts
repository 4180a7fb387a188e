import { addressKey } from '../../platform/budgets/address-key.ts'
import type { Budget, Share } from '../../platform/budgets/budget.ts'
import { plainPage } from '../../platform/plain-page.ts'
import { pageAnswer, sendAnswer } from '../page-answer.ts'
import type { Answer, Visit } from '../visit.ts'

/** One request in flight to a host. */
export interface InFlightRequest {
  /** From now on, only the visitor can continue by sending more, */
  waitsToBeSent(): void
  /** or by reading more. The buffers of both connections keep the arrived part of the answer meanwhile. */
  waitsToBeTaken(): void
  /** Records that the visitor has sent or read this much, and is not waited for. */
  goesOn(bytes: number): void
  end(): void
}

/**
 * Limits the requests in flight to hosts, by site and by visitor, so that one slow site or visitor does not take all
 * connections. When none is left, the one that has been waited for longest is cut off first.
 */
export interface InFlightLimiter {
  /** @returns undefined when the site or the visitor already has too many, and all of them make progress */
  begin(siteId: number, visit: Visit): InFlightRequest | undefined
}

/** No request is cut off for others before it has kept them waiting for this long. */
const PATIENCE_MS = 2_000
/** A visitor slower than this over that time is holding a connection byte by byte. */
const SLOW_BYTES_PER_MS = 1

/** Memory of an answer that its visitor does not read: 170 to 200 kB, measured. */
const PASSING_BYTES = 192 << 10

/** The bounds of what is in flight. */
export interface InFlightLimits {
  readonly bySite: Budget
  readonly byAddress: Budget
  /**
   * Memory for answers that are not read, by site. Beyond it, the slowest is cut off as well, but none that makes
   * progress.
   */
  readonly passing?: Budget
  /** Monotonic milliseconds. */
  readonly now?: () => number
}

export function createInFlightLimiter(limits: InFlightLimits): InFlightLimiter {
  const { bySite, byAddress, passing, now = () => performance.now() } = limits
  const inFlightRequests = new Set<OneInFlightRequest>()
  let looksAgain = false
  /** Returns the filter of those that one more would compete with: of the site, of the visitor, or all. */
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
  /** Those that had no memory when no other was slow enough to be cut off. */
  const holdLater = () => {
    looksAgain = false
    for (const inFlightRequest of inFlightRequests)
      if (inFlightRequest.memory?.amount === 0) holdMemory(inFlightRequest)
  }
  return {
    begin(siteId, visit) {
      const address = addressOf(siteId, visit)
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

/** The monitoring asks many sites at once from one address, so each site counts as a visitor of its own. */
const addressOf = (siteId: number, { client }: Visit): string =>
  client.looksAt === 'every' ? `site ${siteId}` : addressKey(client.address)

interface InFlightFacts {
  readonly siteId: number
  readonly address: string
  readonly visit: Visit
  readonly memory: Share | undefined
  readonly now: () => number
  /** Called when it starts to hold memory. */
  readonly holds: () => void
  readonly ended: () => void
}

class OneInFlightRequest implements InFlightRequest {
  readonly siteId: number
  readonly address: string
  readonly memory: Share | undefined
  readonly #facts: InFlightFacts
  readonly #now: () => number
  /** Undefined while nobody waits for the visitor. */
  #waitsSinceMs: number | undefined
  /** The time spent waiting for the visitor. */
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

  /**
   * Returns the milliseconds of waiting for each byte that arrived; 0 for a visitor who is fast enough, or not waited
   * for.
   */
  slowness(nowMs: number): number {
    if (this.#waitsSinceMs === undefined) return 0
    const idleMs = nowMs - this.#waitsSinceMs
    const waitedMs = this.#waitedMs + idleMs
    const isSlow = waitedMs >= PATIENCE_MS && this.#bytes < waitedMs * SLOW_BYTES_PER_MS
    return idleMs >= PATIENCE_MS || isSlow ? waitedMs / (this.#bytes + 1) : 0
  }

  /** Frees its part of the budgets at once, and its connection in a moment. */
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

/** No bounds, for tests and comparisons. */
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
