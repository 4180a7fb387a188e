import { failureAnswer, isTimeout } from '../proxy.ts'
import { type Decision, handled, type Visit } from '../visit.ts'
import type { FillHead, Leader } from './fill.ts'
import type { Memory } from './memory.ts'
import { hasMeaningfulCookies, isPersonal, type RequestFacts } from './request-facts.ts'
import { endWithBody } from './send-entry.ts'

/** How the way of a leading visit through the cache ends. */
export interface LeaderEnds {
  /** It asks the host itself. */
  pass(): void
  answer(decision: Decision): void
  /** Serves something older in place of a failing host; undefined when there is nothing. */
  readonly fallback: (() => void) | undefined
}

/** A visitor whose request fetches a page, and who gets the answer as it comes. */
export function createLeader(visit: Visit, facts: RequestFacts, memory: Memory, ends: LeaderEnds): Leader {
  const { response, outcome } = visit
  return {
    head(head) {
      if (head.status >= 500 && ends.fallback) {
        ends.fallback()
        return false
      }
      if (isForOthers(head, facts, visit)) {
        ends.pass()
        return false
      }
      outcome.cached = 'MISS'
      outcome.renderer = head.renderer
      outcome.contentType = contentTypeOf(head.headers)
      const note = typeof head.lifetime === 'string' ? `detail=${head.lifetime.replaceAll(' ', '-')}` : 'stored'
      response.writeHead(head.status, head.reason, [
        ...head.headers,
        'Cache-Status',
        `Stead; fwd=uri-miss; ${note}`,
        'X-Request-Id',
        visit.id,
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
 * The host was asked without the visitor's headers. When the answer may depend on who asks, the visitor needs its own: a page
 * for somebody whom WordPress knows, one that says that it differs by headers, or one that cannot be kept for somebody with cookies
 * that could mean something.
 */
function isForOthers({ lifetime, renderer, status, headers }: FillHead, facts: RequestFacts, visit: Visit): boolean {
  if (renderer === 'static') return false
  if (isPersonal(facts) || (lifetime === 'vary' && variesForVisitor(headers, visit))) return true
  return typeof lifetime === 'string' && status < 400 && hasMeaningfulCookies(facts)
}

/** Sent by every browser; cookies are looked at apart. */
const USUAL = ['user-agent', 'accept-language', 'accept']

/** The answer differs by headers that the visitor has sent, and the host has not seen. */
function variesForVisitor(headers: readonly string[], { request }: Visit): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if ((headers[i] as string).toLowerCase() !== 'vary') continue
    for (const name of (headers[i + 1] as string).toLowerCase().split(',')) {
      const named = name.trim() === '*' ? USUAL : [name.trim()]
      if (named.some((each) => each !== 'accept-encoding' && each !== 'cookie' && request.headers[each] !== undefined))
        return true
    }
  }
  return false
}

function contentTypeOf(headers: readonly string[]): string {
  for (let i = 0; i < headers.length; i += 2)
    if ((headers[i] as string).toLowerCase() === 'content-type') return headers[i + 1] as string
  return ''
}
