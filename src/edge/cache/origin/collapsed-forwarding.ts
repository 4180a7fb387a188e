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

/** How the way of a leading visit through the cache ends. */
export interface FetchLeaderEnds {
  /** It asks the host itself. */
  pass(): void
  /** It asks the host itself, because this answer is not for it. */
  decline(head?: OriginHead): void
  /** What is kept under that is for this visitor. */
  isOwn(head: OriginHead): boolean
  /** It asks for the copy that is. */
  select(): void
  /** It gets the copy that the host has said to hold still. */
  renewed(entry: Entry): void
  answer(decision: Decision): void
  /** Serves something older in place of a failing host; undefined when there is nothing. */
  readonly fallback: (() => void) | undefined
}

/** A visitor whose request fetches a page, and who gets the answer as it comes. */
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
      // A response cut off in the middle must not look complete.
      if (response.headersSent) response.destroy()
      else if (ends.fallback) ends.fallback()
      else if (isTimeout(error)) ends.answer(failureAnswer(visit, error))
      else ends.pass()
    },
  }
}

/**
 * The host was asked without the visitor's headers. What can be kept is given to whom it would be given later; what cannot was made
 * for nobody, and each visitor needs his own. Failures are told to those who have nothing of their own to say, so that a site
 * in trouble is not asked twice.
 */
function isForFetchLeader(head: OriginHead, facts: RequestFacts, visit: Visit): boolean {
  const { tier, status, lifetime, headers, varyKey } = head
  if (tier === 'file') return !varyKey.byCookie || hasNoCookies(facts)
  // it is everybody's by what it says; only its body cannot be kept
  const isShared = typeof lifetime !== 'string' || lifetime === 'size' || lifetime === 'unframed'
  if (isShared)
    return isForVisitor({ tier, status, varyKey, allowsOrigin: allowsOrigin(headers, varyKey) }, facts, visit)
  return status >= 500 && !isPersonal(facts) && isPlain(facts, visit)
}
