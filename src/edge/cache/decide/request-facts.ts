import { withoutSessions } from '../../../platform/http/client/session-cookies.ts'
import type { Visit } from '../../visit.ts'

/** What matters to the cache in a request, read in one pass over its raw headers. */
export interface RequestFacts {
  cookie: string
  acceptEncoding: string
  range: string
  ifRange: string
  ifNoneMatch: string
  ifModifiedSince: string
  /** The request comes from a script of another site (`Origin`). */
  hasOrigin: boolean
  /** Neither answered from the cache nor stored: credentials, a method override, or a body. */
  isPrivate: boolean
  /** See `isPlain`, which fills it on its first call. */
  isPlain: boolean | undefined
}

/**
 * Reads the raw headers. `request.headers` would build an object of all of them, which costs more than all other
 * decisions for a cached answer.
 */
export function requestFacts(raw: readonly string[]): RequestFacts {
  const facts: RequestFacts = {
    cookie: '',
    acceptEncoding: '',
    range: '',
    ifRange: '',
    ifNoneMatch: '',
    ifModifiedSince: '',
    hasOrigin: false,
    isPrivate: false,
    isPlain: undefined,
  }
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    // By length first, because most headers match none of these.
    switch (name.length) {
      case 5:
        if (is(name, 'range')) facts.range = raw[i + 1] as string
        break
      case 6:
        if (is(name, 'cookie')) facts.cookie = cookiesOfSite(facts.cookie, raw[i + 1] as string)
        else if (is(name, 'origin')) facts.hasOrigin = true
        break
      case 8:
        if (is(name, 'if-range')) facts.ifRange = raw[i + 1] as string
        break
      case 13:
        if (is(name, 'authorization')) facts.isPrivate = true
        else if (is(name, 'if-none-match')) facts.ifNoneMatch = joined(facts.ifNoneMatch, raw[i + 1] as string)
        break
      case 14:
        if (is(name, 'content-length') && raw[i + 1] !== '0') facts.isPrivate = true
        break
      case 15:
        if (is(name, 'accept-encoding')) facts.acceptEncoding = joined(facts.acceptEncoding, raw[i + 1] as string)
        break
      case 17:
        if (is(name, 'if-modified-since')) facts.ifModifiedSince = raw[i + 1] as string
        else if (is(name, 'transfer-encoding')) facts.isPrivate = true
        break
      case 22:
        if (is(name, 'x-http-method-override')) facts.isPrivate = true
    }
  }
  return facts
}

/** Removes sessions of the panel, which sites never get, so that they do not influence decisions. */
function cookiesOfSite(before: string, value: string): string {
  const own = withoutSessions(value)
  return before && own ? `${before}; ${own}` : before || own
}

const is = (name: string, lower: string): boolean => name === lower || name.toLowerCase() === lower
const joined = (before: string, value: string): string => (before ? `${before}, ${value}` : value)

/**
 * Returns whether the answer depends on what the visitor already has, so that it cannot be the plain page that is being
 * fetched.
 */
export const isConditional = (facts: RequestFacts): boolean => facts.ifNoneMatch !== '' || facts.ifModifiedSince !== ''

/**
 * Cookies of people whom WordPress or a shop knows: login, comment form, post password, cart, share link, PHP session.
 */
const PERSONAL =
  /(?:^|[;,\s])(?:wordpress_(?!test_cookie=)|wp-|wp_|comment_author|woocommerce_|woo-share=|PHPSESSID|edd_|bp[-_]|jetpack_sso_|wfwaf-|laravel_session|mailchimp_landing|simple_wp_membership_|swpm_|bid_\d+_password_protected_)/

/** Returns whether this visitor's page may be personal. */
export const isPersonal = (facts: RequestFacts): boolean => facts.cookie !== '' && PERSONAL.test(facts.cookie)

/** Cookies of analytics services, and of the edge. */
const COUNTING =
  /^(?:_ga.*|_gid|_gat.*|_gcl_.*|__utm.|_fbp|_fbc|_hj.*|_pk_.*|_clck|_clsk|_uet.*|__cf.*|cf_clearance|wordpress_test_cookie|stead-.*)$/
/** Cookies that are usually read by scripts in the browser. */
const OF_SCRIPTS =
  /^(?:cookieyes.*|cookielawinfo.*|cookie_notice.*|cmplz_.*|borlabs.*|CookieConsent|OptanonConsent|__stripe_.*)$/

/** No site uses longer cookie names, and no visitor sends more cookies. */
const MOST_NAME = 64
const MOST_PAIR = 1_024
const MOST_PAIRS = 32

/** Returns the cookies that may change a site's answer, as `name=value`. Analytics cookies never do. */
export function cookiesToLearn({ cookie }: RequestFacts): string[] {
  if (cookie === '') return []
  const pairs: string[] = []
  for (const part of cookie.split(';')) {
    const pair = part.trim()
    const name = cookieName(pair)
    if (name === '' || name.length > MOST_NAME || pair.length > MOST_PAIR || COUNTING.test(name)) continue
    pairs.push(pair)
    if (pairs.length >= MOST_PAIRS) break
  }
  return pairs
}

/** @param pair `name=value` */
export const cookieName = (pair: string): string => (pair.split('=', 1)[0] as string).trim()

const namesOf = (cookie: string): string[] => cookie.split(';').map(cookieName)

/** Returns whether it has cookies that could mean something to the site, though none is known to. */
export const hasMeaningfulCookies = ({ cookie }: RequestFacts): boolean =>
  cookie !== '' && namesOf(cookie).some((name) => !COUNTING.test(name) && !OF_SCRIPTS.test(name))

/** Returns whether it has no cookies in the eyes of a site that sends `Vary: Cookie`. */
export const hasNoCookies = ({ cookie }: RequestFacts): boolean =>
  cookie === '' || namesOf(cookie).every((name) => COUNTING.test(name))

/** Addresses that only the dashboard, login, the database viewer, previews, carts, and scheduled work use. */
const PRIVATE_TARGET =
  /^\/+(?:[^?]*\/)?(?:wp-(?:admin|login\.php|cron\.php|signup\.php|activate\.php|comments-post\.php|trackback\.php|mail\.php)|xmlrpc\.php)(?:[/?]|$)|^\/+stead-database\/|[?&](?:preview(?:_id|_nonce)?|customize_[a-z_]+|_wpnonce|add-to-cart|remove_item|undo_item|wc-ajax|wc-api|doing_wp_cron|edd_action)=/

/**
 * Words in names of parameters of links for one person, which often work only once: paid downloads, confirmations,
 * unsubscriptions. A request for everyone would use them up before the visitor's own.
 */
const KEY_WORDS = new Set(
  'nonce wpnonce token key hash sig signature secret hmac otp download unsubscribe confirm'.split(' '),
)
/** Words in addresses are shorter, and separated. */
const LONG_VALUE = /[0-9A-Za-z]{24,}/g
const HAS_BOTH = /\d[A-Za-z]|[A-Za-z]\d/

/** Returns whether the query contains a key, by the name of its parameter or by a long random value. */
function hasKey(target: string): boolean {
  const query = target.indexOf('?')
  if (query < 0) return false
  return target
    .slice(query + 1)
    .split('&')
    .some((parameter) => {
      const [name = '', value = ''] = parameter.split('=', 2)
      const words = name.toLowerCase().split(/[_-]/)
      return (
        words.some((word) => KEY_WORDS.has(word)) || (value.match(LONG_VALUE) ?? []).some((run) => HAS_BOTH.test(run))
      )
    })
}

/** Returns whether the cache ignores this visit. Files of the dashboard are files like others. */
export const isPrivateTarget = (target: string): boolean =>
  (PRIVATE_TARGET.test(target) || hasKey(target)) && !LOOKS_LIKE_FILE.test(target)

const LOOKS_LIKE_FILE =
  /^[^?]*\.(?:css|js|mjs|map|png|jpe?g|gif|webp|avif|svg|ico|woff2?|ttf|otf|eot|mp[34]|webm|ogg|pdf)(?:\?|$)/i

/** Returns whether the target looks like a file by its name. Only the host knows. */
export const looksLikeFile = (target: string): boolean => LOOKS_LIKE_FILE.test(target)

export const isRead = ({ method }: Visit): boolean => method === 'GET' || method === 'HEAD'
