import { headerOf } from '../../../platform/http/request/raw-headers.ts'
import type { Visit } from '../../visit.ts'
import type { Tier } from './lifetime.ts'
import { hasMeaningfulCookies, hasNoCookies, isConditional, isPersonal, type RequestFacts } from './request-facts.ts'
import type { VaryKey } from './vary-key.ts'

/** The parts of an answer to a request without visitor headers that decide who may get it. */
export interface SharedAnswer {
  readonly tier: Tier
  readonly status: number
  /** See {@link allowsOrigin}. */
  readonly allowsOrigin: boolean
  readonly varyKey: VaryKey
}

/**
 * Returns whether an answer for everyone is right for this visitor, too. A file is. A page is not for anyone whom
 * WordPress knows. Anything but a plain page (a missing one, a redirect) may be a refusal, and a visitor with unusual
 * headers may have been admitted.
 */
export function isForVisitor(answer: SharedAnswer, facts: RequestFacts, visit: Visit): boolean {
  if (answer.varyKey.byCookie && !hasNoCookies(facts)) return false
  if (answer.tier === 'file') return true
  if (isPersonal(facts)) return false
  if (answer.status !== 200) return isPlain(facts, visit)
  return !facts.hasOrigin || answer.allowsOrigin
}

/**
 * Headers that do not decide what a visitor may see: sent by every browser, read by proxies, or dropped on the way to
 * the host. Before you add one, check that no site grants or refuses access by it. The country that a proxy sends does
 * not qualify.
 */
const HARMLESS = new Set(
  `accept accept-charset accept-encoding accept-language alt-used cache-control cdn-loop cf-connecting-ip cf-ray cf-visitor connection
  content-length cookie device-memory dnt downlink dpr early-data ect forwarded from host if-modified-since if-none-match if-range
  keep-alive max-forwards pragma priority proxy-connection purpose range referer rtt save-data sec-gpc sec-purpose te traceparent
  tracestate true-client-ip upgrade upgrade-insecure-requests user-agent via viewport-width width x-moz x-purpose x-real-ip
  x-request-id`.split(/\s+/),
)
const HARMLESS_FAMILY = /^(?:sec-ch-|sec-fetch-|x-forwarded-|x-stead-)/

/** Returns whether only the address can matter to the site, so that all such requests get the same answer. */
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

/**
 * Returns whether the answer to this visitor shows if the address is shareable: it is complete, and for nobody in
 * particular.
 */
export const isTelling = (facts: RequestFacts, visit: Visit): boolean =>
  visit.method === 'GET' && facts.range === '' && !isConditional(facts) && isPlain(facts, visit)

/**
 * Returns whether scripts of other sites may read an answer: it names them, or it varies by their origin.
 * @param headers raw pairs, flat
 */
export const allowsOrigin = (headers: readonly string[], { by }: VaryKey): boolean =>
  by.includes('origin') || headerOf(headers, 'access-control-allow-origin') !== undefined
