import { headerOf } from '../../../platform/http/request/raw-headers.ts'
import { failureAnswer, isTimeout } from '../../proxy/proxy.ts'
import { siteHeaders } from '../../proxy/site-headers.ts'
import { type Decision, handled, type Visit } from '../../visit.ts'
import { hasNoCookies, isPersonal, type RequestFacts } from '../decide/request-facts.ts'
import { allowsOrigin, isForVisitor, isPlain } from '../decide/shareability.ts'
import { endWithBody } from '../send-entry.ts'
import type { Entry } from '../store/entry.ts'
import type { Memory } from '../store/memory.ts'
import type { FetchLeader } from './origin-fetch.ts'
import type { OriginHead } from './origin-head.ts'

/** How a leading visit leaves the cache. */
export interface FetchLeaderEnds {
  /** Sends the visit to the host itself. */
  pass(): void
  /** Sends the visit to the host itself, because this answer is not for it. */
  decline(head?: OriginHead): void
  /** Returns whether the variant of this head is for this visitor. */
  isOwn(head: OriginHead): boolean
  /** Looks up the variant that is. */
  select(): void
  /** Serves the stored entry that the host has confirmed. */
  renewed(entry: Entry): void
  answer(decision: Decision): void
  /** Serves an older entry in place of a failing host. Undefined when there is none. */
  readonly fallback: (() => void) | undefined
}

/** Creates the visitor whose request fetches a page, and who gets the answer as it arrives. */
export function createFetchLeader(
  visit: Visit,
  facts: RequestFacts,
  memory: Memory,
  ends: FetchLeaderEnds,
): FetchLeader {
  const { response, outcome } = visit
  return {
    isOwn: ends.isOwn,
    head(head) {
      if (head.status >= 500 && ends.fallback) {
        ends.fallback()
        return false
      }
      if (typeof head.lifetime !== 'string' && !ends.isOwn(head)) {
        ends.select()
        return false
      }
      if (!isForFetchLeader(head, facts, visit)) {
        ends.decline(head)
        return false
      }
      outcome.cached = 'MISS'
      outcome.renderer = head.renderer
      outcome.contentType = headerOf(head.headers, 'content-type') ?? ''
      const note = typeof head.lifetime === 'string' ? `detail=${head.lifetime.replaceAll(' ', '-')}` : 'stored'
      response.writeHead(head.status, head.reason, [
        ...head.headers,
        'Cache-Status',
        `Stead; fwd=${head.varyKey.by.length > 0 ? 'vary' : 'uri'}-miss; ${note}`,
        'X-Request-Id',
        visit.id,
        ...siteHeaders(visit),
      ])
      ends.answer(handled)
      return true
    },
    data(chunk, resume) {
      outcome.sentBytes += chunk.length
      if (response.write(chunk)) return true
      response.once('drain', resume)
      return false
    },
    end() {
      visit.abandon = undefined
      response.end()
    },
    renewed(entry) {
      visit.abandon = undefined
      ends.renewed(entry)
    },
    declined() {
      visit.abandon = undefined
      ends.decline()
    },
    endFrom(entry, rest) {
      visit.abandon = undefined
      endWithBody(visit, entry, rest, memory)
    },
    failed(error) {
      visit.abandon = undefined
      // A truncated response must not look complete.
      if (response.headersSent) response.destroy()
      else if (ends.fallback) ends.fallback()
      else if (isTimeout(error)) ends.answer(failureAnswer(visit, error))
      else ends.pass()
    },
  }
}

/**
 * Returns whether the leader may have this answer, which was fetched without the visitor's headers. A cacheable answer
 * goes to the visitors who would get it later. An uncacheable one fits nobody, so each visitor needs a request of their
 * own. Failures go to visitors with plain requests, so that a site in trouble gets no second request.
 */
function isForFetchLeader(head: OriginHead, facts: RequestFacts, visit: Visit): boolean {
  const { tier, status, lifetime, headers, varyKey } = head
  if (tier === 'file') return !varyKey.byCookie || hasNoCookies(facts)
  // It is for everyone by its headers; only its body cannot be stored.
  const isShared = typeof lifetime !== 'string' || lifetime === 'size' || lifetime === 'unframed'
  if (isShared)
    return isForVisitor({ tier, status, varyKey, allowsOrigin: allowsOrigin(headers, varyKey) }, facts, visit)
  return status >= 500 && !isPersonal(facts) && isPlain(facts, visit)
}
