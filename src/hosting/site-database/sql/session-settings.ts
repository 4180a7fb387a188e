import type { Token } from './sql-tokens.ts'

/** The most variables that a dump may set: it saves and restores what it changed. */
const MOST_VARIABLES = 200
const LONGEST_VALUE = 1000
const CHARSETS: ReadonlySet<string> = new Set(['CHARACTER_SET_CLIENT', 'CHARACTER_SET_CONNECTION'])

/** What SET statements of a dump say about how to read its text. None of it reaches a server. */
export class SessionSettings {
  /** The charset of the text: `utf8mb4`. */
  charset = 'utf8mb4'
  /** The modes of sql_mode, in upper case. */
  modes: ReadonlySet<string> = new Set()
  readonly #variables = new Map<string, string>()

  /** @param tokens a statement, without SET and its semicolon */
  set(tokens: readonly Token[]): void {
    const words = tokens.map(plain)
    const first = words[0]?.toUpperCase()
    if (first === 'NAMES') this.#setCharset(words[1] ?? '')
    else if (first === 'CHARSET') this.#setCharset(words[1] ?? '')
    else if (first === 'CHARACTER' && words[1]?.toUpperCase() === 'SET') this.#setCharset(words[2] ?? '')
    else for (const part of partsOf(tokens)) this.#assign(part.map(plain), part)
  }

  #assign(words: readonly string[], tokens: readonly Token[]): void {
    const at = words.indexOf('=')
    if (at < 1) return
    const target = (words[at - 1] as string).toUpperCase()
    // @@GLOBAL.x and GLOBAL x are settings of the server.
    if (words.slice(0, at).some((word) => /^(@@)?(GLOBAL|PERSIST)/i.test(word))) return
    const name = target.replace(/^@@(SESSION\.|LOCAL\.)?/, '')
    const value = this.#valueOf(
      words.slice(at + 1).filter((word) => word !== ':'),
      tokens.slice(at + 1),
    )
    if (target.startsWith('@') && !target.startsWith('@@')) {
      if (value !== undefined && this.#variables.size < MOST_VARIABLES) this.#variables.set(target, value)
    } else if (name === 'SQL_MODE') {
      if (value !== undefined)
        this.modes = new Set(
          value
            .toUpperCase()
            .split(',')
            .map((mode) => mode.trim()),
        )
    } else if (CHARSETS.has(name) && value !== undefined && name === 'CHARACTER_SET_CLIENT') this.#setCharset(value)
  }

  /**
   * Returns the value of an expression if it is known: a word, a text, a variable, or the first of IFNULL(…) with a
   * value.
   */
  #valueOf(words: readonly string[], tokens: readonly Token[]): string | undefined {
    const [first = ''] = words
    if (/^IFNULL$/i.test(first)) {
      const comma = words.indexOf(',')
      return this.#valueOf([words[2] ?? ''], [tokens[2] as Token]) ?? words[comma + 1]
    }
    const isText = tokens[0]?.kind === 'string'
    // CONCAT(@@sql_mode, ',x'): only the additions are needed.
    if (words.length > 1) {
      const added = tokens.filter(({ kind }) => kind === 'string').map(plain)
      return [...this.modes, ...added].join(',').slice(0, LONGEST_VALUE)
    }
    if (isText || !first.startsWith('@')) return first
    const name = first.toUpperCase()
    if (!name.startsWith('@@')) return this.#variables.get(name)
    if (/CHARACTER_SET_CLIENT$/.test(name)) return this.charset
    return /SQL_MODE$/.test(name) ? [...this.modes].join(',') : undefined
  }

  #setCharset(name: string): void {
    if (name === '' || name.toUpperCase() === 'DEFAULT') return
    this.charset = name.toLowerCase()
  }
}

const plain = (token: Token): string =>
  'text' in token ? token.text : Buffer.from(token.bytes).toString('latin1', 0, LONGEST_VALUE)

/** Returns the assignments of one SET, without splitting at commas in parentheses. */
function partsOf(tokens: readonly Token[]): Token[][] {
  const parts: Token[][] = [[]]
  let depth = 0
  for (const token of tokens) {
    if (token.kind === 'mark' && token.text === '(') depth++
    if (token.kind === 'mark' && token.text === ')') depth--
    if (depth === 0 && token.kind === 'mark' && token.text === ',') parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
}
