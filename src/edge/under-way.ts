import { addressKey } from '../platform/budgets/address-key.ts'
import type { Budget } from '../platform/budgets/budget.ts'
import { plainPage } from '../platform/plain-page.ts'
import { pageAnswer, sendAnswer } from './answer.ts'
import type { Answer, Visit } from './visit.ts'

/** One request under way to a host. */
export interface Passage {
  /** From now on nothing goes on before the visitor sends, or takes, more. */
  waits(): void
  /** He has sent or taken so much, and is not waited for. */
  goesOn(bytes: number): void
  end(): void
}

/**
 * Requests under way to hosts, by whom they are for: one slow site, or one visitor, is not to have all connections. Where none is left,
 * whoever keeps one waiting longest goes first.
 */
export interface UnderWay {
  /** @returns undefined when the site or the visitor has too many already, and all of them get on */
  begin(siteId: number, visit: Visit): Passage | undefined
}

/** Nobody is cut off for others who has not kept them waiting for so long. */
const PATIENCE_MS = 2_000
/** Who is slower than this over such a time keeps a connection for himself, byte by byte. */
const SLOW_BYTES_PER_MS = 1

/** @param now monotonic milliseconds */
export function createUnderWay(bySite: Budget, byAddress: Budget, now = () => performance.now()): UnderWay {
  const passages = new Set<OnePassage>()
  /** Those that one more would need to make room: of the site, of the visitor, or any. */
  const rivals = (siteId: number, address: string): ((other: OnePassage) => boolean) => {
    if (bySite.usedBy(siteId) >= bySite.terms.each) return (other) => other.siteId === siteId
    if (byAddress.usedBy(address) >= byAddress.terms.each) return (other) => other.address === address
    return () => true
  }
  const cutSlowest = (isRival: (other: OnePassage) => boolean): boolean => {
    const nowMs = now()
    let slowest: OnePassage | undefined
    let slowness = 0
    for (const other of passages) {
      const its = isRival(other) ? other.slowness(nowMs) : 0
      if (its > slowness) [slowest, slowness] = [other, its]
    }
    slowest?.cutOff()
    return slowest !== undefined
  }
  return {
    begin(siteId, visit) {
      const address = addressKey(visit.client.address)
      const [site, visitor] = [bySite.share(siteId), byAddress.share(address)]
      while (!(site.take(1) && visitor.take(1))) {
        site.free()
        if (!cutSlowest(rivals(siteId, address))) return undefined
      }
      const passage = new OnePassage(siteId, address, visit, now, () => {
        passages.delete(passage)
        site.free()
        visitor.free()
      })
      passages.add(passage)
      return passage
    },
  }
}

class OnePassage implements Passage {
  readonly siteId: number
  readonly address: string
  readonly #visit: Visit
  readonly #now: () => number
  readonly #ended: () => void
  /** Undefined while it is not the visitor who is waited for. */
  #waitsSinceMs: number | undefined
  /** Of the time in which the visitor was waited for. */
  #waitedMs = 0
  #bytes = 0

  constructor(siteId: number, address: string, visit: Visit, now: () => number, ended: () => void) {
    this.siteId = siteId
    this.address = address
    this.#visit = visit
    this.#now = now
    this.#ended = ended
  }

  waits(): void {
    this.#waitsSinceMs ??= this.#now()
  }

  goesOn(bytes: number): void {
    this.#bytes += bytes
    if (this.#waitsSinceMs !== undefined) this.#waitedMs += this.#now() - this.#waitsSinceMs
    this.#waitsSinceMs = undefined
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
    this.end()
    if (this.#visit.response.headersSent) this.#visit.response.destroy()
    else sendAnswer(this.#visit, pageAnswer(this.#visit, tooSlow, [], true))
  }

  end(): void {
    this.#ended()
  }
}

/** Without bounds, for tests and comparisons. */
export const anyNumber: UnderWay = { begin: () => ({ waits() {}, goesOn() {}, end() {} }) }

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
