/** Parses the lines of mod_rewrite. */
import { BadPattern, type Pattern } from './pattern.ts'
import type { Condition, RewriteCondition, RewriteRule, RewriteStep, Rewriting } from './rules.ts'

type MakePattern = (text: string, ignoresCase: boolean) => Pattern

const MOST_RULES = 2_000

/** A part of the line is invalid or not supported. */
class NotRead extends Error {}

export class RewritingReader {
  readonly #pattern: MakePattern
  #rewriting: Rewriting | undefined
  #conditions: RewriteCondition[] = []
  /** The error of the condition above, which makes its rule invalid too. */
  #wrong: string | undefined
  /** Access rules that a line that is not understood may contain. */
  #doubt: string | undefined
  /** Steps that WordPress itself writes. */
  readonly #usual = new Map<RewriteStep, Usual>()
  #lines: string[] = []

  constructor(pattern: MakePattern) {
    this.#pattern = pattern
  }

  /** @returns what is not understood */
  read(name: string, given: readonly string[], rest: string): string | undefined {
    this.#rewriting ??= { isOn: undefined, base: undefined, steps: [] }
    switch (name) {
      case 'rewriteengine':
        this.#rewriting.isOn = /^on$/i.test(given[0] ?? '')
        return undefined
      case 'rewritebase': {
        const base = given[0] ?? ''
        if (!base.startsWith('/')) return 'not a path'
        this.#rewriting.base = base.endsWith('/') ? base : `${base}/`
        return undefined
      }
      case 'rewritecond':
        this.#lines.push(`cond ${rest.replace(/\s+/g, ' ')}`)
        return this.#condition(given)
      case 'rewriterule':
        this.#lines.push(`rule ${rest.replace(/\s+/g, ' ')}`)
        return this.#rule(given)
      default:
        return 'not supported'
    }
  }

  /** @returns the rules, and what a rule that is not understood may forbid */
  end(isRoot: boolean): { rewriting: Rewriting | undefined; doubt: string | undefined } {
    const rewriting = this.#rewriting
    if (rewriting && isRoot) rewriting.steps.splice(0, rewriting.steps.length, ...this.#withoutUsual(rewriting.steps))
    return { rewriting, doubt: this.#doubt }
  }

  #condition(given: readonly string[]): string | undefined {
    try {
      const [subject, text, flagText, more] = given
      if (subject === undefined || text === undefined || more !== undefined)
        throw new NotRead('too few words, or too many')
      const flags = flagsOf(flagText)
      const unknown = [...flags.keys()].find((flag) => !/^(?:nc|nocase|or|ornext|nv|novary)$/.test(flag))
      if (unknown !== undefined) throw new NotRead(`flag ${unknown}`)
      if (subject.toLowerCase() === 'expr') throw new NotRead('expressions are not supported')
      checkVariables(subject)
      const ignoresCase = flags.has('nc') || flags.has('nocase')
      const negated = text.startsWith('!')
      const condition = this.#conditionOf(negated ? text.slice(1) : text, ignoresCase)
      const or = flags.has('or') || flags.has('ornext')
      this.#conditions.push({ subject, condition, negated, or, ignoresCase })
      return undefined
    } catch (error) {
      if (!(error instanceof NotRead || error instanceof BadPattern)) throw error
      this.#wrong = error.message
      return error.message
    }
  }

  #conditionOf(text: string, ignoresCase: boolean): Condition {
    switch (text) {
      case '-f':
      case '-F':
        return { kind: 'file', test: 'f' }
      case '-d':
        return { kind: 'file', test: 'd' }
      case '-s':
        return { kind: 'file', test: 's' }
      // Links are never followed here, and no file is a program.
      case '-l':
      case '-L':
      case '-h':
      case '-x':
        return { kind: 'file', test: 'never' }
    }
    const number = /^-(eq|ne|lt|le|gt|ge)(-?\d+)$/i.exec(text)
    if (number) return { kind: 'number', operator: (number[1] as string).toLowerCase(), text: number[2] as string }
    if (/^-[A-Za-z]$/.test(text)) throw new NotRead(`the test ${text}`)
    const [, operator, than] = /^(<=|>=|<|>|=)([\s\S]*)$/.exec(text) ?? []
    if (operator !== undefined && than !== undefined)
      return { kind: 'text', operator: operator as '=', text: than === '""' ? '' : than }
    return { kind: 'pattern', pattern: this.#pattern(text, ignoresCase) }
  }

  #rule(given: readonly string[]): string | undefined {
    const rewriting = this.#rewriting as Rewriting
    const conditions = this.#conditions
    const wrong = this.#wrong
    const lines = this.#lines
    this.#conditions = []
    this.#wrong = undefined
    this.#lines = []
    let flags = new Map<string, string>()
    try {
      flags = flagsOf(given[2])
      if (rewriting.steps.length >= MOST_RULES) throw new NotRead(`more than ${MOST_RULES} rules`)
      if (wrong !== undefined) throw new NotRead('a condition of it is not understood')
      const step = this.#ruleOf(given, flags, conditions)
      rewriting.steps.push(step)
      const usual = usualKind(lines)
      if (usual) this.#usual.set(step, usual)
      return undefined
    } catch (error) {
      if (!(error instanceof NotRead || error instanceof BadPattern)) throw error
      if (flags.has('f') || flags.has('forbidden') || flags.has('g') || flags.has('gone')) this.#doubt ??= error.message
      return error.message
    }
  }

  #ruleOf(
    given: readonly string[],
    flags: ReadonlyMap<string, string>,
    conditions: readonly RewriteCondition[],
  ): RewriteRule {
    const [text, to, , more] = given
    if (text === undefined || to === undefined || more !== undefined) throw new NotRead('too few words, or too many')
    const has = (...names: readonly string[]) => names.some((name) => flags.has(name))
    const unknown = [...flags.keys()].find((flag) => !KNOWN_FLAGS.has(flag))
    if (unknown !== undefined) throw new NotRead(`flag ${unknown}`)
    checkVariables(to)
    const negated = text.startsWith('!') && text.length > 1
    const pattern = this.#pattern(negated ? text.slice(1) : text, has('nc', 'nocase'))
    const redirect = has('r', 'redirect') ? statusOf(flags.get('r') ?? flags.get('redirect') ?? '') : undefined
    const skip = flags.get('s') ?? flags.get('skip')
    if (skip !== undefined && !/^\d{1,4}$/.test(skip)) throw new NotRead('how many rules are skipped')
    return {
      kind: 'rule',
      conditions,
      pattern,
      negated,
      to: to === '-' ? undefined : to,
      redirect,
      forbidden: has('f', 'forbidden'),
      gone: has('g', 'gone'),
      last: has('l', 'last'),
      end: has('end'),
      next: has('n', 'next'),
      chained: has('c', 'chain'),
      skip: Number(skip ?? 0),
      appendQuery: has('qsa', 'qsappend'),
      dropQuery: has('qsd', 'qsdiscard'),
      unescaped: has('ne', 'noescape'),
      escapesReferences: has('b'),
      type: flags.get('t') ?? flags.get('type'),
      env: [...flags].filter(([name]) => /^(?:e|env)(?:\d+)?$/.test(name)).map(([, value]) => value),
    }
  }

  /** Merges runs of rules that WordPress itself writes, up to its front controller, into one step. */
  #withoutUsual(steps: readonly RewriteStep[]): RewriteStep[] {
    const out: RewriteStep[] = []
    let run: RewriteStep[] = []
    const endRun = () => {
      const kinds = run.map((step) => this.#usual.get(step))
      const front = Math.max(kinds.lastIndexOf('front'), kinds.lastIndexOf('whole'))
      const isWhole = kinds.includes('whole') || (front >= 0 && kinds.includes('exists'))
      if (isWhole) out.push({ kind: 'wordpress' }, ...run.slice(front + 1))
      else out.push(...run)
      run = []
    }
    for (const step of steps) {
      if (this.#usual.has(step)) run.push(step)
      else {
        endRun()
        out.push(step)
      }
    }
    endRun()
    return out
  }
}

// biome-ignore format: a list
const KNOWN_FLAGS = new Set([
  'r', 'redirect', 'f', 'forbidden', 'g', 'gone', 'l', 'last', 'end', 'n', 'next', 'c', 'chain', 's', 'skip', 'qsa', 'qsappend', 'qsd', 'qsdiscard',
  'ne', 'noescape', 'b', 'bnp', 'nc', 'nocase', 'e', 'env', 't', 'type', 'pt', 'passthrough', 'ns', 'nosubreq', 'dpi', 'discardpath',
  ...Array.from({ length: 20 }, (_, i) => `e${i}`),
])

/** Parses `[R=301,L]`. `E` may occur several times. */
function flagsOf(text: string | undefined): Map<string, string> {
  const flags = new Map<string, string>()
  if (text === undefined) return flags
  const inner = /^\[([\s\S]*)\]$/.exec(text)?.[1]
  if (inner === undefined) throw new NotRead('flags must be in brackets')
  let count = 0
  for (const flag of inner.split(',')) {
    const [, name, value] = /^\s*([A-Za-z]+)\s*(?:=([\s\S]*?))?\s*$/.exec(flag) ?? []
    if (name === undefined) throw new NotRead(`flag ${flag}`)
    const lower = name.toLowerCase()
    flags.set(/^e(?:nv)?$/.test(lower) ? `e${count++}` : lower, value ?? '')
  }
  return flags
}

function statusOf(text: string): number {
  const known: Record<string, number> = { '': 302, permanent: 301, temp: 302, seeother: 303 }
  const status = known[text.toLowerCase()] ?? Number(text)
  if (!Number.isInteger(status) || status < 300 || status > 599) throw new NotRead(`status ${text}`)
  return status
}

/** Variables of a condition that Stead can evaluate. */
const VARIABLES =
  /^(?:HTTP_(?:USER_AGENT|REFERER|COOKIE|FORWARDED|HOST|PROXY_CONNECTION|ACCEPT)|HTTP:[A-Za-z0-9-]+|ENV:.+|SSL:.*|LA-[UF]:REQUEST_FILENAME|REMOTE_(?:ADDR|HOST|PORT|USER|IDENT)|REQUEST_(?:METHOD|FILENAME|URI|SCHEME)|PATH_INFO|QUERY_STRING|AUTH_TYPE|DOCUMENT_ROOT|SERVER_(?:NAME|PORT|PROTOCOL|ADDR|ADMIN|SOFTWARE)|TIME(?:_(?:YEAR|MON|DAY|HOUR|MIN|SEC|WDAY))?|THE_REQUEST|IS_SUBREQ|HTTPS|SCRIPT_FILENAME|CONN_REMOTE_ADDR|CONTEXT_(?:PREFIX|DOCUMENT_ROOT))$/

function checkVariables(text: string): void {
  for (const [, name] of text.matchAll(/%\{([^}]*)\}/g))
    if (!VARIABLES.test(name as string)) throw new NotRead(`%{${name}} is not supported`)
  if (/\$\{/.test(text)) throw new NotRead('maps are not supported')
}

/**
 * The kinds of WordPress' own rules: the front controller with or without a check for existing files, that check on its
 * own, and others.
 */
type Usual = 'whole' | 'front' | 'exists' | 'other'

const EXISTS = /^cond %\{REQUEST_FILENAME\} -[fd](?: \[OR\])?$/
const MISSING = /^cond %\{REQUEST_FILENAME\} !-[fd]$/
const ALONE = [
  /^rule \.\* - \[E=HTTP_AUTHORIZATION:%\{HTTP:Authorization\}\]$/,
  /^rule \^index\\\.php\$ - \[L\]$/,
  /^rule \^(?:\(\[_0-9a-zA-Z-\]\+\/\)\?)?wp-admin\$ (?:\$1)?wp-admin\/ \[R=301,L\]$/,
  /^rule \^(?:\(\[_0-9a-zA-Z-\]\+\/\)\?)?\(wp-\(content\|admin\|includes\)\.\*\) \/?\$[12] \[L\]$/,
  /^rule \^(?:\(\[_0-9a-zA-Z-\]\+\/\)\?)?\(\.\*\\\.php\)\$ \/?\$[12] \[L\]$/,
]

/** Returns the kind of a rule of WordPress, by its lines as WordPress writes them. */
function usualKind(lines: readonly string[]): Usual | undefined {
  const rule = lines.at(-1) as string
  const conditions = lines.slice(0, -1)
  if (conditions.length === 0 && ALONE.some((usual) => usual.test(rule))) return 'other'
  if (/^rule \. (?:\/?|\/[\w/-]+\/)index\.php \[L\]$/.test(rule)) {
    if (conditions.length === 2 && conditions.every((line) => MISSING.test(line))) return 'whole'
    return conditions.length === 0 ? 'front' : undefined
  }
  if (rule === 'rule ^ - [L]' && conditions.length === 2 && conditions.every((line) => EXISTS.test(line)))
    return 'exists'
  return undefined
}
