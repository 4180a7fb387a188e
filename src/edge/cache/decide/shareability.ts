import { headerOf } from '../../../platform/http/request/raw-headers.ts'
import type { Visit } from '../../visit.ts'
import type { Tier } from './lifetime.ts'
import { hasMeaningfulCookies, hasNoCookies, isConditional, isPersonal, type RequestFacts } from './request-facts.ts'
import type { VaryKey } from './vary-key.ts'

/** Of an answer to a request without anything of a visitor: what decides for whom it is. */
export interface SharedAnswer {
  readonly tier: Tier
  readonly status: number
  /** See {@link allowsOrigin}. */
  readonly allowsOrigin: boolean
  readonly varyKey: VaryKey
}

/**
 * Whether an answer that is everybody's is this visitor's, too. A file is; a page is not for somebody whom WordPress knows. Anything
 * but a plain page (a missing one, a redirect) may be a refusal, and somebody who says more than browsers say may have been let in.
 */
export function isForVisitor(answer: SharedAnswer, facts: RequestFacts, visit: Visit): boolean {
  if (answer.varyKey.byCookie && !hasNoCookies(facts)) return false
  if (answer.tier === 'file') return true
  if (isPersonal(facts)) return false
  if (answer.status !== 200) return isPlain(facts, visit)
  return !facts.hasOrigin || answer.allowsOrigin
}

/**
 * Headers that do not decide what a visitor may see: sent by every browser, read by proxies, or left out on the way to the host. Who
 * adds one looks that no site gives or refuses something because of it; the country that a proxy tells is none.
 */
const HARMLESS = new Set(
  `accept accept-charset accept-encoding accept-language alt-used cache-control cdn-loop cf-connecting-ip cf-ray cf-visitor connection
  content-length cookie device-memory dnt downlink dpr early-data ect forwarded from host if-modified-since if-none-match if-range
  keep-alive max-forwards pragma priority proxy-connection purpose range referer rtt save-data sec-gpc sec-purpose te traceparent
  tracestate true-client-ip upgrade upgrade-insecure-requests user-agent via viewport-width width x-moz x-purpose x-real-ip
  x-request-id`.split(/\s+/),
)
const HARMLESS_FAMILY = /^(?:sec-ch-|sec-fetch-|x-forwarded-|x-stead-)/

/** The request says nothing that could mean something to the site but its address: any other of its kind gets the same. */
export function isPlain(facts: RequestFacts, visit: Visit): boolean {
  facts.isPlain ??= saysNothing(facts, visit.request.rawHeaders)
  return facts.isPlain
}

function saysNothing(facts: RequestFacts, rawHeaders: readonly string[]): boolean {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase()
    if (!HARMLESS.has(name) && !HARMLESS_FAMILY.test(name)) return false
  }
  return !hasMeaningfulCookies(facts)
}

/** The answer to this visitor tells whether the address can be shared: it is the whole one, and nobody's in particular. */
export const isTelling = (facts: RequestFacts, visit: Visit): boolean =>
  visit.method === 'GET' && facts.range === '' && !isConditional(facts) && isPlain(facts, visit)

/**
 * Whether scripts of other sites may have an answer: it says for whom, or it was made for theirs.
 * @param headers raw pairs, flat
 */
export const allowsOrigin = (headers: readonly string[], { by }: VaryKey): boolean =>
  by.includes('origin') || headerOf(headers, 'access-control-allow-origin') !== undefined
