const LENGTH_LIMIT = 500
/** Longer texts are cut before the search, because they may contain another program's output. */
const LOOK_LIMIT = 5000

const USER_PART = /\/\/[^/\s@]+@/g
const WEBHOOK_SECRET = /\bwhsec_[\w+/=-]+/g
const CREDENTIALS = /\b([Bb]earer|[Bb]asic|BEARER|BASIC)\s+([\w.~+/=-]{8,})/g
/**
 * Something with a telling name, and its value: `name=`, `name: `, `"name":`, `'name' =>`. Not `Name::`, PHP's form for
 * a member.
 */
const NAMED =
  /([\w-]{0,40}(?:password|passwd|secret|token|signature|api_?key|credential)[\w-]{0,40}["']?\s{0,3})(=>|=|(?<!:):(?!:))(\s{0,3})("[^"]*"?|'[^']*'?|[^\s"'&,;]+)/gi
/** `two-factor`, `WooCommerce`, `authentication.`: a token has digits, symbols or another change of case in it. */
const WORDS = /^(?:[A-Z]?[a-z]+(?:-[a-z]+)*|(?:[A-Z][a-z]{2,})+|[A-Z]+)\.?$/

function withoutSecrets(text: string): string {
  return text
    .replace(USER_PART, '//')
    .replace(CREDENTIALS, (all, scheme, token) => (WORDS.test(token) ? all : `${scheme} (hidden)`))
    .replace(NAMED, (all: string, name, sign, space, value, at: number) => {
      // In "…the password: no such user", the sentence continues.
      const isSentence =
        sign === ':' && space !== '' && WORDS.test(value) && /^ [a-z(]/i.test(text.slice(at + all.length))
      return isSentence ? all : `${name}${sign}${space}(hidden)`
    })
    .replace(WEBHOOK_SECRET, '(hidden)')
}

/**
 * Absolute paths of this machine, which only the operator should see. Paths that a site's own PHP sees (`/wordpress`,
 * `/private`, `/tmp`, `/stead`) and paths of the API are useful to the reader, so they stay.
 */
const MACHINE_PATH =
  /(?<![\w/.:~%-])\/(?!(?:wordpress|private|tmp\/(?!stead)|stead|v\d+)\b)[^\s/'"`:,;()]+(?:\/[^\s'"`:,;()]*)+/g
const QUOTED_MACHINE_PATH = /(['"])\/(?!(?:wordpress|private|stead|v\d+)\b)[^'"/]+\/[^'"]*\1/g

/**
 * Returns the text of an error for clients: no stack trace, no secret, no path of the machine, one line of bounded
 * length.
 */
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
  text = withoutSecrets(text).replace(QUOTED_MACHINE_PATH, '(path)').replace(MACHINE_PATH, '(path)')
  return text.length > LENGTH_LIMIT ? `${text.slice(0, LENGTH_LIMIT - 1)}…` : text
}
