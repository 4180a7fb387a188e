import { hash } from 'node:crypto'

/** The address of a page as the cache knows it. */
export interface PageAddress {
  /** The key of a stored page: scheme, host, and target. */
  readonly key: string
  /** Path and query for the host, without parameters that do not change pages. */
  readonly target: string
  /** The path without the query, as purges name it. */
  readonly path: string
}

/** Nobody links to longer addresses, and invented ones must not take room in the cache. */
const MOST_CHARACTERS = 2_048
/** A longer key is stored as its hash, so that visitors do not decide how much memory a key takes. */
const MOST_KEY = 160

/** Added to links by campaigns and mail programs, and read only by scripts in the browser. */
const TRACKING =
  /^(?:utm_[a-z_]+|fbclid|gclid|gclsrc|dclid|gbraid|wbraid|gad_source|gad_campaignid|msclkid|yclid|twclid|ttclid|igshid|igsh|li_fat_id|mc_cid|mc_eid|_hsenc|_hsmi|_ga|_gl|srsltid|epik|s_kwcid|vero_id|mkt_tok)(?:=|$)/i

/**
 * Keeps the order of parameters: PHP sees the difference between `?a=1&a=2` and `?a=2&a=1`.
 * @returns undefined for an address that is too long to be stored
 */
export function pageAddress(scheme: string, host: string, target: string): PageAddress | undefined {
  if (target.length > MOST_CHARACTERS) return undefined
  const query = target.indexOf('?')
  if (query < 0) return { key: keyOf(scheme, host, target), target, path: pathForPurges(target) }
  const path = target.slice(0, query)
  const kept = withoutTracking(target.slice(query + 1))
  const clean = kept === '' ? path : `${path}?${kept}`
  return { key: keyOf(scheme, host, clean), target: clean, path: pathForPurges(path) }
}

function keyOf(scheme: string, host: string, target: string): string {
  const key = `${scheme}://${host}${target}`
  return key.length <= MOST_KEY ? key : hash('sha256', key, 'base64url')
}

/** WordPress writes lower-case escapes in its links. Browsers may send upper-case ones. */
const pathForPurges = (path: string): string =>
  path.includes('%') ? path.replace(/%[0-9A-F]{2}/gi, (coded) => coded.toLowerCase()) : path

function withoutTracking(query: string): string {
  return query
    .split('&')
    .filter((parameter) => parameter !== '' && !TRACKING.test(parameter))
    .join('&')
}

/** Returns whether a purge concerns an entry, by its address or by what it shows. */
export const isConcerned = (
  { path, shows }: { readonly path: string; readonly shows: readonly string[] },
  patterns: readonly string[],
): boolean => patterns.some((pattern) => isPurgedBy(path, pattern) || shows.some((shown) => isPurgedBy(shown, pattern)))

/**
 * Returns whether a purge of `pattern` concerns a path: the same path (with or without its last slash) or, with `*` at
 * the end, everything that begins with it.
 */
export function isPurgedBy(path: string, pattern: string): boolean {
  if (pattern.endsWith('*')) return path.startsWith(pattern.slice(0, -1))
  if (path === pattern) return true
  return path.length > pattern.length ? path === `${pattern}/` : pattern === `${path}/`
}
