const LENGTH_LIMIT = 500
/** More is not even looked at: somebody else's output may be in it. */
const LOOK_LIMIT = 5000

const secrets: [RegExp, string][] = [
  // the user part of an address
  [/\/\/[^/\s@]+@/g, '//'],
  // a word is no token: one has a digit, a sign or changing case in it
  [/\b([Bb]earer|[Bb]asic|BEARER|BASIC)\s+(?=\S*[\d.~+/=_-]|\S*[a-z]\S*[A-Z])[\w.~+/=-]{8,}/g, '$1 (hidden)'],
  [
    /([\w-]{0,40}(?:password|passwd|secret|token|signature|api_?key|credential)[\w-]{0,40}["']?\s{0,3}[=:]\s{0,3})("[^"]*"|'[^']*'|[^\s"'&,;]+)/gi,
    '$1(hidden)',
  ],
  [/\bwhsec_[\w+/=-]+/g, '(hidden)'],
]

/**
 * Absolute paths of this machine, which are nobody's business but the operator's; those that a site's own PHP sees (`/wordpress`,
 * `/private`, `/tmp`, `/stead`) and paths of the API say something to who reads it.
 */
const MACHINE_PATH =
  /(?<![\w/.:~%-])\/(?!(?:wordpress|private|tmp\/(?!stead)|stead|v\d+)\b)[^\s/'"`:,;()]+(?:\/[^\s'"`:,;()]*)+/g
const QUOTED_MACHINE_PATH = /(['"])\/(?!(?:wordpress|private|stead|v\d+)\b)[^'"/]+\/[^'"]*\1/g

/** The text of an error as clients may read it: no stack trace, no secret, no path of the machine, one line of bounded length. */
export function failureText(error: unknown): string {
  const { message, code, name } = (error ?? {}) as { message?: unknown; code?: unknown; name?: unknown }
  const said = [message, typeof error === 'string' ? error : '', code, name].find(
    (text) => text && typeof text === 'string',
  )
  let text = String(said ?? 'Unknown error')
    .slice(0, LOOK_LIMIT)
    .replace(/\n\s+at .*/g, '')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim()
  for (const [pattern, replacement] of secrets) text = text.replace(pattern, replacement)
  text = text.replace(QUOTED_MACHINE_PATH, '(path)').replace(MACHINE_PATH, '(path)')
  return text.length > LENGTH_LIMIT ? `${text.slice(0, LENGTH_LIMIT - 1)}…` : text
}
