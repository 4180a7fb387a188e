/**
 * Parses a `.htaccess` as Apache 2.4 documents it. Lines that are not understood are reported, and close what they may
 * protect.
 */
import { addressTest } from './address-ranges.ts'
import { configLines, type Line, splitWords } from './config-lines.ts'
import { readExpiry } from './expires.ts'
import { isHarmless, isLoaded, VERSION } from './modules.ts'
import { BadPattern, Pattern } from './pattern.ts'
import { RewritingReader } from './read-rewriting.ts'
import {
  type Compat,
  type FileSection,
  type From,
  type HeaderEdit,
  type LimitedRequirement,
  type Methods,
  type NotUnderstood,
  newSection,
  type Redirect,
  type Requirement,
  type Rules,
  type Section,
  type SetEnv,
} from './rules.ts'

const MOST_LINES = 10_000
const MOST_DEPTH = 16
/** The limit for all expressions of a file together. */
const MOST_INSTRUCTIONS = 60_000
const MOST_TOLD = 20

/** Part of a line is not understood. It is reported, and does not affect the rest of the file. */
export class NotUnderstoodHere extends Error {}

interface Place {
  readonly name: string
  readonly section: Section
  readonly methods: Methods | undefined
  /** The requirements inside `<RequireAll>` and similar sections. */
  readonly requirements: LimitedRequirement[] | undefined
  /** Whether its lines are ignored: the module is missing, or the section is not understood. */
  readonly isSkipped: boolean
  /** Whether it is not understood, so that everything it protects is closed. */
  readonly isUnknown: boolean
}

/** @param isRoot whether it is the file of the web root, which contains WordPress' own block */
export function parseHtaccess(text: string, isRoot: boolean): Rules {
  return new Parser(isRoot).parse(text)
}

class Parser {
  readonly #isRoot: boolean
  readonly #folder = newSection()
  readonly #files: FileSection[] = []
  readonly #env: SetEnv[] = []
  readonly #redirects: Redirect[] = []
  readonly #notUnderstood: NotUnderstood[] = []
  readonly #rewriting: RewritingReader
  #instructions = 0
  #places: Place[]

  constructor(isRoot: boolean) {
    this.#isRoot = isRoot
    this.#rewriting = new RewritingReader((text, ignoresCase) => this.#pattern(text, ignoresCase))
    this.#places = [this.#place('', this.#folder)]
  }

  parse(text: string): Rules {
    let lines = 0
    for (const line of configLines(text)) {
      if (++lines > MOST_LINES) {
        this.#close(line.number, `more than ${MOST_LINES} lines`)
        break
      }
      try {
        this.#line(line)
      } catch (error) {
        if (!(error instanceof NotUnderstoodHere || error instanceof BadPattern)) throw error
        this.#tell(line.number, `${line.name}: ${error.message}`)
        this.#doubt(line.name)
      }
    }
    const open = this.#places.at(-1) as Place
    if (this.#places.length > 1) this.#close(lines, `<${open.name}> is never closed`)
    const { rewriting, doubt } = this.#rewriting.end(this.#isRoot)
    if (doubt !== undefined && !this.#isRoot) this.#folder.isClosed = true
    return {
      folder: this.#folder,
      files: this.#files,
      env: this.#env,
      redirects: this.#redirects,
      rewriting,
      notUnderstood: this.#notUnderstood,
      isUsual:
        this.#isEmpty &&
        (rewriting?.steps ?? []).every(({ kind }) => kind === 'wordpress') &&
        rewriting?.isOn !== false,
      bytes: 2_000 + text.length * 4 + this.#instructions * 40,
    }
  }

  /** Whether it contains nothing besides rewriting. */
  get #isEmpty(): boolean {
    const { types, errors, expiresTypes } = this.#folder
    const others = [this.#files, this.#env, this.#redirects, [...types], [...errors], [...expiresTypes]]
    return others.every(({ length }) => length === 0) && JSON.stringify(this.#folder) === JSON.stringify(newSection())
  }

  #place(name: string, section: Section, more: Partial<Place> = {}): Place {
    return { name, section, methods: undefined, requirements: undefined, isSkipped: false, isUnknown: false, ...more }
  }

  #tell(line: number, what: string): void {
    if (this.#notUnderstood.length < MOST_TOLD) this.#notUnderstood.push({ line, what })
  }

  /** Closes the folder to everyone, because the file as a whole cannot be read. Apache serves nothing then, either. */
  #close(line: number, what: string): void {
    this.#tell(line, what)
    this.#folder.isClosed = true
  }

  /** Handles a line that is not understood. Closes what it may have protected, and everything that is protected. */
  #doubt(name: string): void {
    const { section } = this.#here
    if (ACCESS.has(name)) section.isClosed = true
    section.isDoubtful = true
  }

  get #here(): Place {
    return this.#places.at(-1) as Place
  }

  #pattern(text: string, ignoresCase = false): Pattern {
    const pattern = new Pattern(text, ignoresCase)
    this.#instructions += pattern.size
    if (this.#instructions > MOST_INSTRUCTIONS) throw new BadPattern('the expressions of this file are too large')
    return pattern
  }

  /** Parses the name of `<Files>`, in which `*` and `?` are wildcards. */
  #wildcard(text: string): FileSection['name'] {
    if (!/[*?[]/.test(text)) return { kind: 'name', text }
    const expression = text
      .replace(/[\\^$.|+(){}]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')
      .replaceAll('[!', '[^')
    return { kind: 'pattern', pattern: this.#pattern(`^${expression}$`) }
  }

  #line(line: Line): void {
    if (line.kind === 'begin') this.#begin(line)
    else if (line.kind === 'end') this.#end(line)
    else {
      const here = this.#here
      // In the web root, this would close the whole site.
      if (here.isUnknown && ACCESS.has(line.name) && !this.#isRoot) here.section.isClosed = true
      if (!here.isSkipped) this.#directive(line, here)
    }
  }

  #begin({ name, rest, number }: Line): void {
    const here = this.#here
    if (this.#places.length > MOST_DEPTH) throw new NotUnderstoodHere('sections nested too deeply')
    const inner = (more: Partial<Place>) => this.#places.push({ ...here, name, ...more })
    if (here.isSkipped) {
      inner({})
      return
    }
    const unknown = (what: string) => {
      this.#tell(number, what)
      here.section.isDoubtful = true
      inner({ isSkipped: true, isUnknown: true })
    }
    switch (name) {
      case 'ifmodule':
        inner({ isSkipped: isLoaded(rest.replace(/^!\s*/, '')) === rest.startsWith('!') })
        return
      case 'ifdefine':
        inner({ isSkipped: !rest.startsWith('!') })
        return
      case 'ifversion':
        inner({ isSkipped: !isVersion(rest) })
        return
      case 'ifdirective':
      case 'ifsection':
      case 'iffile':
        unknown(`<${name}> is not supported`)
        return
      case 'limit':
      case 'limitexcept': {
        const names = new Set(splitWords(rest).map((word) => word.toUpperCase()))
        if (names.size === 0) {
          unknown(`<${name}> without methods`)
          return
        }
        inner({ methods: { names, except: name === 'limitexcept' } })
        return
      }
      case 'files':
      case 'filesmatch':
        this.#beginFiles(name, rest, inner, unknown)
        return
      case 'requireall':
      case 'requireany':
      case 'requirenone':
        inner({ requirements: [] })
        return
      default:
        unknown(`<${name}> is not supported`)
        return
    }
  }

  #beginFiles(
    name: string,
    rest: string,
    inner: (more: Partial<Place>) => unknown,
    unknown: (what: string) => void,
  ): void {
    const here = this.#here
    const given = splitWords(rest)
    const isPattern = name === 'filesmatch' || given[0] === '~'
    const text = isPattern && given[0] === '~' ? given[1] : given[0]
    if (text === undefined) {
      unknown(`<${name}> without a name`)
      return
    }
    let fileName: FileSection['name']
    try {
      fileName = isPattern ? { kind: 'pattern', pattern: this.#pattern(text) } : this.#wildcard(text)
    } catch (error) {
      // It is unknown which files these are.
      unknown(`<${name}>: ${(error as Error).message}`)
      return
    }
    const section = newSection()
    // A nested section is for files that match both sections, which is not supported.
    if (here.section !== this.#folder) {
      unknown(`<${name}> inside <files>`)
      return
    }
    this.#files.push({ name: fileName, section })
    inner({ section, methods: here.methods })
    return
  }

  #end({ name, number }: Line): void {
    const here = this.#here
    if (this.#places.length === 1 || here.name !== name) {
      this.#close(number, `</${name}> without its begin`)
      return
    }
    this.#places.pop()
    if (here.isSkipped || !here.requirements || !name.startsWith('require')) return
    const kind = name === 'requireall' ? 'every' : name === 'requireany' ? 'some' : 'none'
    this.#require({ kind, parts: here.requirements }, false)
  }

  #require(requirement: Requirement, negated: boolean): void {
    const { requirements, section, methods } = this.#here
    const limited = { requirement, negated, methods }
    if (requirements) requirements.push(limited)
    else {
      section.require ??= []
      section.require.push(limited)
    }
  }

  #directive(line: Line, { section, methods }: Place): void {
    const { name, rest, number } = line
    const given = splitWords(rest)
    const first = given[0] ?? ''
    if (name.startsWith('rewrite')) {
      if (section !== this.#folder) throw new NotUnderstoodHere('rewriting for files of a name')
      const doubt = this.#rewriting.read(name, given, rest)
      if (doubt !== undefined) this.#tell(number, `${name}: ${doubt}`)
      return
    }
    switch (name) {
      case 'require':
        this.#requireLine(given, number)
        return
      case 'order': {
        const value = rest.replace(/\s/g, '').toLowerCase()
        if (value !== 'allow,deny' && value !== 'deny,allow' && value !== 'mutual-failure')
          throw new NotUnderstoodHere('an order that does not exist')
        compatOf(section).order.push({ value, methods })
        return
      }
      case 'allow':
      case 'deny': {
        if (first.toLowerCase() !== 'from') throw new NotUnderstoodHere('"from" is missing')
        compatOf(section)[name].push(...this.#from(given.slice(1), number, methods))
        return
      }
      case 'satisfy': {
        const value = first.toLowerCase()
        if (value !== 'any' && value !== 'all') throw new NotUnderstoodHere('neither "any" nor "all"')
        section.satisfy.push({ value, methods })
        return
      }
      case 'authtype':
        section.authType = first.toLowerCase()
        if (section.authType !== 'basic' && section.authType !== 'none')
          throw new NotUnderstoodHere('only Basic is supported')
        return
      case 'authname':
        section.authName = first
        return
      case 'authuserfile':
        section.userFile = first
        return
      case 'authbasicprovider':
        if (given.some((provider) => provider.toLowerCase() !== 'file'))
          throw new NotUnderstoodHere('only "file" is supported')
        return
      default:
        this.#aboutAnswers(line, this.#here)
    }
  }

  /** Handles directives that change answers of files and PHP. */
  #aboutAnswers(line: Line, { section }: Place): void {
    const { name, rest } = line
    const given = splitWords(rest)
    const first = given[0] ?? ''
    switch (name) {
      case 'options':
        for (const option of given) {
          if (/^-(?:indexes)$/i.test(option)) section.listings = false
          else if (/^\+?indexes$|^all$/i.test(option)) section.listings = true
          else if (/^none$/i.test(option) || !/^[+-]/.test(option)) section.listings = false
        }
        return
      case 'header':
        section.headers.push(readHeader(given))
        return
      case 'addtype':
        if (/php/i.test(first)) throw new NotUnderstoodHere('only files that end in .php are run')
        for (const extension of given.slice(1)) section.types.set(extension.replace(/^\./, '').toLowerCase(), first)
        return
      case 'forcetype':
        section.forcedType = first.toLowerCase() === 'none' ? undefined : checkedType(first)
        return
      case 'directoryindex':
        section.index = first.toLowerCase() === 'disabled' && given.length === 1 ? [] : given
        return
      case 'directoryslash':
        section.slash = first.toLowerCase() !== 'off'
        return
      case 'errordocument':
        this.#errorDocument(section, given, rest)
        return
      case 'expiresactive':
      case 'expiresdefault':
      case 'expiresbytype':
        expires(name, section, given)
        return
      default:
        this.#aboutOthers(line, this.#here)
    }
  }

  /** Handles redirects, variables, and places where PHP must not run. */
  #aboutOthers({ name, rest }: Line, { section }: Place): void {
    const given = splitWords(rest)
    const first = given[0] ?? ''
    switch (name) {
      case 'redirect':
      case 'redirectmatch':
      case 'redirectpermanent':
      case 'redirecttemp':
        if (section !== this.#folder) throw new NotUnderstoodHere('redirects for files of a name')
        this.#redirects.push(this.#redirect(name, given))
        return
      case 'setenv':
        this.#env.push({ attribute: '', pattern: undefined, names: [{ name: first, value: given[1] ?? '' }] })
        return
      case 'unsetenv':
        this.#env.push({
          attribute: '',
          pattern: undefined,
          names: given.map((each) => ({ name: each, value: undefined })),
        })
        return
      case 'setenvif':
      case 'setenvifnocase':
      case 'browsermatch':
      case 'browsermatchnocase':
        this.#env.push(this.#setEnvIf(name, given))
        return
      case 'php_flag':
      case 'php_admin_flag':
        if (/^engine$/i.test(first)) section.withoutPhp = !/^(?:on|1|true)$/i.test(given[1] ?? '')
        return
      case 'sethandler':
        if (/php|^proxy:/i.test(first)) return
        section.withoutPhp = true
        return
      case 'addhandler':
      case 'removehandler':
      case 'removetype':
        // A common way to keep PHP from running in upload folders.
        if (given.some((each) => /^\.?php\d?$/i.test(each)) && !(name === 'addhandler' && /php/i.test(first)))
          section.withoutPhp = true
        return
      default:
        if (!isHarmless(name)) throw new NotUnderstoodHere('not supported')
    }
  }

  #requireLine(given: readonly string[], number: number): void {
    const negated = given[0]?.toLowerCase() === 'not'
    const [what = '', ...rest] = negated ? given.slice(1) : given
    switch (what.toLowerCase()) {
      case 'all':
        if (!/^(?:granted|denied)$/i.test(rest[0] ?? '')) break
        this.#require({ kind: 'all', granted: /^granted$/i.test(rest[0] as string) }, negated)
        return
      case 'ip': {
        const { test, wrong } = addressTest(rest)
        if (wrong.length > 0 || rest.length === 0) break
        this.#require({ kind: 'address', test }, negated)
        return
      }
      case 'local':
        this.#require({ kind: 'address', test: addressTest(['127.0.0.0/8', '::1']).test }, negated)
        return
      case 'method':
        this.#require({ kind: 'method', names: rest.map((name) => name.toUpperCase()) }, negated)
        return
      case 'env':
        this.#require({ kind: 'env', names: rest }, negated)
        return
      case 'valid-user':
        this.#require({ kind: 'validUser' }, negated)
        return
      case 'user':
        this.#require({ kind: 'user', names: rest }, negated)
        return
    }
    this.#tell(number, `require ${given.join(' ')}: no visitor meets it`.slice(0, 200))
    this.#require({ kind: 'unknown' }, negated)
  }

  #from(given: readonly string[], number: number, methods: Methods | undefined): From[] {
    const out: From[] = []
    const addresses: string[] = []
    for (const who of given) {
      const env = /^env=(!?)(.+)$/i.exec(who)
      if (/^all$/i.test(who)) out.push({ who: { kind: 'all' }, methods })
      else if (env) out.push({ who: { kind: 'env', name: env[2] as string, negated: env[1] === '!' }, methods })
      else addresses.push(who)
    }
    if (addresses.length === 0) return out
    const { test, wrong } = addressTest(addresses)
    // Apache looks up the name of each visitor in the DNS, twice.
    if (wrong.length > 0) {
      this.#tell(
        number,
        `${wrong[0]} is not an address, and Stead does not look up the names of visitors`.slice(0, 200),
      )
      this.#here.section.isDoubtful = true
    }
    return [...out, { who: { kind: 'address', test }, methods }]
  }

  #errorDocument(section: Section, given: readonly string[], rest: string): void {
    const status = Number(given[0])
    if (!(status >= 400 && status <= 599) || given.length < 2) throw new NotUnderstoodHere('a status and what is shown')
    const raw = rest.replace(/^\S+\s+/, '')
    const text =
      raw.startsWith('"') || given.length > 2 ? raw.replace(/^"/, '').replace(/"$/, '') : (given[1] as string)
    if (text.toLowerCase() === 'default') section.errors.delete(status)
    else section.errors.set(status, text)
  }

  #redirect(name: string, given: readonly string[]): Redirect {
    const rest = [...given]
    let status = name === 'redirectpermanent' ? 301 : 302
    const word = /^(?:permanent|temp|seeother|gone|[1-5]\d\d)$/i.exec(rest[0] ?? '')?.[0].toLowerCase()
    if (word && (name === 'redirect' || name === 'redirectmatch')) {
      status = ({ permanent: 301, temp: 302, seeother: 303, gone: 410 } as Record<string, number>)[word] ?? Number(word)
      rest.shift()
    }
    const [path, to] = rest
    const isRedirect = status >= 300 && status <= 399
    if (path === undefined || (isRedirect ? to === undefined : to !== undefined) || rest.length > 2)
      throw new NotUnderstoodHere('an address, and for a redirect where to')
    if (to !== undefined && !/^(?:\/|[a-z][a-z0-9+.-]*:)/i.test(to) && name !== 'redirectmatch')
      throw new NotUnderstoodHere('the target is neither a path nor an address')
    const isPattern = name === 'redirectmatch'
    return {
      status,
      path: isPattern ? undefined : path,
      pattern: isPattern ? this.#pattern(path) : undefined,
      to: to ?? '',
    }
  }

  #setEnvIf(name: string, given: readonly string[]): SetEnv {
    const isBrowser = name.startsWith('browser')
    const [attribute, text, ...rest] = isBrowser ? ['user-agent', ...given] : given
    if (attribute === undefined || text === undefined || rest.length === 0) throw new NotUnderstoodHere('too few words')
    if (!/^[A-Za-z0-9_-]+$/.test(attribute)) throw new NotUnderstoodHere('only names of headers are supported')
    const names = rest.map((each) => {
      const [, not, key, value] = /^(!?)([^=]+)(?:=([\s\S]*))?$/.exec(each) ?? []
      if (key === undefined) throw new NotUnderstoodHere('a name is missing')
      return { name: key, value: not ? undefined : (value ?? '1') }
    })
    const pattern = this.#pattern(text, name.endsWith('nocase'))
    return { attribute: attribute.toLowerCase().replaceAll('_', '-'), pattern, names }
  }
}

/** Directives that control access. */
const ACCESS = new Set([
  'require',
  'order',
  'allow',
  'deny',
  'satisfy',
  'authtype',
  'authuserfile',
  'authgroupfile',
  'authbasicprovider',
  'authmerging',
  'requireall',
  'requireany',
  'requirenone',
  'limit',
  'limitexcept',
  'files',
  'filesmatch',
])

function expires(name: string, section: Section, given: readonly string[]): void {
  const first = given[0] ?? ''
  if (name === 'expiresactive') {
    if (!/^(?:on|off)$/i.test(first)) throw new NotUnderstoodHere('neither "on" nor "off"')
    section.expiresActive = first.toLowerCase() === 'on'
    return
  }
  const isDefault = name === 'expiresdefault'
  const expiry = readExpiry((isDefault ? given : given.slice(1)).join(' '))
  if (!expiry) throw new NotUnderstoodHere('not a time such as "access plus 1 month"')
  if (isDefault) section.expiresDefault = expiry
  else section.expiresTypes.set(first.toLowerCase(), expiry)
}

const compatOf = (section: Section): Compat => {
  section.compat ??= { order: [], allow: [], deny: [] }
  return section.compat
}

/** Headers of the connection, or of the framing of an answer. */
const NOT_FOR_SITES =
  /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|content-length|content-range|content-encoding|date|server|status|x-stead-.*|x-request-id)$/i

function readHeader(given: readonly string[]): HeaderEdit {
  const rest = [...given]
  const always = /^always$/i.test(rest[0] ?? '')
  if (always || /^onsuccess$/i.test(rest[0] ?? '')) rest.shift()
  const action = (rest.shift() ?? '').toLowerCase()
  const name = (rest.shift() ?? '').replace(/:$/, '')
  const isUnset = action === 'unset'
  if (!/^(?:set|append|merge|add|unset|setifempty)$/.test(action))
    throw new NotUnderstoodHere(`"${action}" is not supported`)
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw new NotUnderstoodHere('not a name of a header')
  if (NOT_FOR_SITES.test(name)) throw new NotUnderstoodHere('a header that is not for sites to say')
  const value = isUnset ? '' : rest.shift()
  const env = /^env=(!?)(\S+)$/i.exec(rest[0] ?? '')
  if (value === undefined || rest.length > (env ? 1 : 0))
    throw new NotUnderstoodHere('a value is missing, or a condition not supported')
  if (/%(?!%)./.test(value.replaceAll('%%', ''))) throw new NotUnderstoodHere('values of the moment are not supported')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be in a header
  if (/[\x00-\x08\x0a-\x1f\x7f]|[^\x00-\xff]/.test(value))
    throw new NotUnderstoodHere('a character that no header may have')
  return {
    always,
    action: action as HeaderEdit['action'],
    name,
    value: value.replaceAll('%%', '%'),
    env: env ? { name: env[2] as string, negated: env[1] === '!' } : undefined,
  }
}

export function checkedType(type: string): string {
  if (!/^[\w.+-]+\/[\w.+-]+(?:;[\x20-\x7e]*)?$/.test(type)) throw new NotUnderstoodHere('not a type')
  return type
}

function isVersion(rest: string): boolean {
  const [, not, operator = '=', version] = /^(!?)\s*(?:(>=|<=|>|<|==|=)\s*)?(\d+(?:\.\d+)*)$/.exec(rest.trim()) ?? []
  if (version === undefined) return false
  const given = version.split('.').map(Number)
  let order = 0
  for (const [index, part] of VERSION.entries())
    if (order === 0) order = Math.sign(part - (given[index] ?? (operator.startsWith('=') ? part : 0)))
  const holds = {
    '=': order === 0,
    '==': order === 0,
    '>': order > 0,
    '<': order < 0,
    '>=': order >= 0,
    '<=': order <= 0,
  }[operator]
  return (holds ?? false) !== (not === '!')
}
