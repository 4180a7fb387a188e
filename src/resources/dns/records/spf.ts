/* SPF records (RFC 7208). A name has at most one, so additions are merged into the existing one. */

export const isSpf = (text: string): boolean => /^v=spf1(?: |$)/i.test(text)

/** From lenient to strict: how to treat mail from all other senders. */
const STRICTNESS = ['+all', '?all', '~all', '-all']

/**
 * Merges the mechanisms of both, without duplicates, in the order of the first. Of the two `all`, keeps the stricter.
 */
export function mergedSpf(first: string, second: string): string {
  const [one, other] = [terms(first), terms(second)]
  const all = [one.all, other.all].filter((each) => each !== undefined)
  const strictest = all.sort((a, b) => STRICTNESS.indexOf(b) - STRICTNESS.indexOf(a)).slice(0, 1)
  const listed = [...one.others, ...other.others]
  const included = (term: string) => term.replace(/^redirect=/i, 'include:')
  const isThere = (term: string) => listed.some((each) => isSame(each, included(term)))
  const redirects = new Set(listed.filter((term) => isRedirect(term) && !isThere(term)))
  // A redirect counts only if there is no `all` (§6.1), and a name has one.
  const keepsRedirect = redirects.size === 1 && strictest.length === 0
  const written = listed.map((term) => (redirects.has(term) && keepsRedirect ? term : included(term)))
  const once = written.filter((term, at) => !isRedirect(term) && written.findIndex((each) => isSame(each, term)) === at)
  return ['v=spf1', ...once, ...strictest, ...(keepsRedirect ? redirects : [])].join(' ')
}

/**
 * Returns the first without what the second includes. Unused senders only make the record longer, and it may cause only
 * ten lookups (§4.6.4).
 */
export function spfWithout(text: string, other: string): string {
  const included = terms(other).others
  const isLeft = (term: string) => !included.some((each) => isSame(each, term))
  return text.trim().split(/\s+/).filter(isLeft).join(' ')
}

const isRedirect = (term: string): boolean => /^redirect=/i.test(term)
const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

function terms(record: string): { others: string[]; all: string | undefined } {
  const list = record.trim().split(/\s+/).slice(1)
  const isAll = (term: string) => /^[-+~?]?all$/i.test(term)
  const all = list.find(isAll)?.toLowerCase()
  return { others: list.filter((term) => !isAll(term)), all: all === 'all' ? '+all' : all }
}
