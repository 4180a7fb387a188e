/** Reads the literal values of a `wp-config.php`. Never runs it, so computed values stay unknown. */

/** The database of the old site, as its own machine reaches it. */
export interface OldDatabase {
  readonly name: string
  readonly user: string
  readonly password: string
  readonly host: string | undefined
  readonly port: number | undefined
  readonly socket: string | undefined
}

export interface WpConfigFacts {
  /** Undefined when it is computed or missing. */
  readonly database: OldDatabase | undefined
  readonly prefix: string | null
  /** The path of `wp-content`, if the file defines it. */
  readonly contentDir: string | undefined
}

type Token =
  | { readonly kind: 'text'; readonly value: string | undefined }
  | { readonly kind: 'sign' | 'word'; readonly value: string }

/** Reads a `wp-config.php`. */
export function wpConfigFacts(source: string): WpConfigFacts {
  const tokens = tokensOf(source)
  const constants = new Map<string, string | undefined>()
  let prefix: string | null = null
  for (const [at, token] of tokens.entries()) {
    const [next, name, comma, value, end] = tokens.slice(at + 1, at + 6)
    if (
      token.kind === 'word' &&
      token.value.toLowerCase() === 'define' &&
      name?.kind === 'text' &&
      name.value !== undefined
    ) {
      if (next?.value !== '(' || comma?.value !== ',' || constants.has(name.value)) continue
      const isLiteral = value?.kind === 'text' && end?.value === ')'
      constants.set(name.value, isLiteral ? value.value : undefined)
    }
    // `name` and `comma` are the tokens after `$table_prefix =`.
    if (token.kind === 'word' && token.value === '$table_prefix' && next?.value === '=' && name?.kind === 'text')
      if (comma?.value === ';' && /^\w{1,64}$/.test(name.value ?? '')) prefix ??= name.value ?? null
  }
  return { database: databaseOf(constants), prefix, contentDir: constants.get('WP_CONTENT_DIR') }
}

function databaseOf(constants: ReadonlyMap<string, string | undefined>): OldDatabase | undefined {
  const [name, user, password, host] = ['DB_NAME', 'DB_USER', 'DB_PASSWORD', 'DB_HOST'].map((each) =>
    constants.get(each),
  )
  if (!name || user === undefined || password === undefined || host === undefined) return undefined
  return { name, user, password, ...placeOf(host) }
}

/** Parses `host`, `host:port`, `host:/socket`, `:/socket`, or `[::1]:3306`, as WordPress reads it. */
function placeOf(host: string): Pick<OldDatabase, 'host' | 'port' | 'socket'> {
  const at = host.indexOf(':/')
  const socket = at < 0 ? undefined : host.slice(at + 1)
  const rest = at < 0 ? host : host.slice(0, at)
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]*))(?::(\d{1,5}))?$/.exec(rest) ?? []
  const name = bracketed ?? plain ?? rest
  return { host: name || undefined, port: port === undefined ? undefined : Number(port), socket }
}

const SPACE = /\s+/y
const COMMENT = /(?:#(?!\[)|\/\/)[^\n]*|\/\*[\s\S]*?(?:\*\/|$)/y
const SINGLE = /'((?:[^'\\]|\\[\s\S])*)'/y
const DOUBLE = /"((?:[^"\\]|\\[\s\S])*)"/y
const WORD = /\$?[A-Za-z_]\w*/y

function tokensOf(source: string): Token[] {
  const tokens: Token[] = []
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(source)
    if (found) at = pattern.lastIndex
    return found
  }
  while (at < source.length) {
    if (take(SPACE) || take(COMMENT)) continue
    const single = take(SINGLE)
    if (single) {
      tokens.push({ kind: 'text', value: (single[1] as string).replaceAll(/\\([\\'])/g, '$1') })
      continue
    }
    const double = take(DOUBLE)
    if (double) {
      tokens.push({ kind: 'text', value: plainOf(double[1] as string) })
      continue
    }
    const word = take(WORD)
    if (word) tokens.push({ kind: 'word', value: word[0] })
    else tokens.push({ kind: 'sign', value: source[at++] as string })
  }
  return tokens
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', $: '$', '"': '"' }

/** @returns undefined when it contains a variable */
function plainOf(quoted: string): string | undefined {
  if (/(?:^|[^\\])(?:\\\\)*(?:\$[A-Za-z_{]|\{\$)/.test(quoted)) return undefined
  return quoted.replaceAll(/\\([ntr\\$"])/g, (_, sign: string) => ESCAPES[sign] as string)
}
