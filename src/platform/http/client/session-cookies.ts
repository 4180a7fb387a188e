/*
 * Names of the cookies that hold a session of the panel. Browsers send a cookie to every port of its host, so that the edge may get one,
 * too: it lets none through to a site, and none out of one.
 */

/** `__Host-` (RFC 6265bis §4.1.3): no other host below the same domain can set it. Browsers take it over https alone. */
export const SECURE_SESSION = '__Host-stead'
export const PLAIN_SESSION = 'stead_session'

const NAMES = new Set([SECURE_SESSION, PLAIN_SESSION].map((name) => name.toLowerCase()))
/** Cheap, and true for nearly all cookies of nearly all visitors. */
const MAY_BE = /stead/i

/**
 * Returns whether one pair of a `Cookie` or `Set-Cookie` header has the name of a session. Browsers keep a cookie without a name and send its
 * value alone, so that `=stead_session=x` counts as well.
 */
export function isSessionCookie(pair: string): boolean {
  if (!MAY_BE.test(pair)) return false
  const [name = ''] = pair.replace(/^[\s=]+/, '').split('=', 1)
  return NAMES.has(name.trim().toLowerCase())
}

/** Returns a `Cookie` header without sessions; empty when it has nothing else. */
export function withoutSessions(cookies: string): string {
  if (!MAY_BE.test(cookies)) return cookies
  const pairs = cookies.split(';')
  const kept = pairs.filter((pair) => !isSessionCookie(pair))
  return kept.length === pairs.length ? cookies : kept.join(';').trim()
}
