/*
 * The names of the cookies that hold a session of the panel. Browsers send a cookie to every port of its host, so the
 * edge may receive one. The edge passes none to a site, and none from a site.
 */

/**
 * Has the `__Host-` prefix (RFC 6265bis §4.1.3), so no other host of the same domain can set it. Browsers accept it
 * only over HTTPS.
 */
export const SECURE_SESSION = '__Host-stead'
export const PLAIN_SESSION = 'stead_session'

const NAMES = new Set([SECURE_SESSION, PLAIN_SESSION].map((name) => name.toLowerCase()))
/** A cheap check that rules out nearly all cookies of nearly all visitors. */
const MAY_BE = /stead/i

/**
 * Returns whether one pair of a `Cookie` or `Set-Cookie` header has the name of a session. Browsers keep a cookie
 * without a name and send only its value, so `=stead_session=x` counts as well.
 */
export function isSessionCookie(pair: string): boolean {
  if (!MAY_BE.test(pair)) return false
  const [name = ''] = pair.replace(/^[\s=]+/, '').split('=', 1)
  return NAMES.has(name.trim().toLowerCase())
}

/** Returns a `Cookie` header without sessions. The result is empty if nothing else is left. */
export function withoutSessions(cookies: string): string {
  if (!MAY_BE.test(cookies)) return cookies
  const pairs = cookies.split(';')
  const kept = pairs.filter((pair) => !isSessionCookie(pair))
  return kept.length === pairs.length ? cookies : kept.join(';').trim()
}
