/** Applies mod_rewrite in a folder, and the redirects of mod_alias, in the order of Apache 2.4. */
import { addressOf, DOCUMENT_ROOT, envOf, type Level, type Tree, type Trial, visitorHeader } from './asked.ts'
import type { Captures } from './pattern.ts'
import type { RewriteCondition, RewriteRule } from './rules.ts'

/** The result of the rules. */
export type Rewritten =
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  | { readonly kind: 'status'; readonly status: number }
  /** An internal redirect to another address. */
  | {
      readonly kind: 'inside'
      readonly path: string
      readonly query: string
      readonly isEnd: boolean
      readonly type: string | undefined
    }
  | { readonly kind: 'same'; readonly type: string | undefined }

const MOST_ROUNDS = 20
const MOST_CHARACTERS = 16_384

/** The state of one pass over the rules of a folder. */
interface Pass {
  readonly trial: Trial
  readonly tree: Tree
  /** A physical path that begins with {@link DOCUMENT_ROOT}, or an address. */
  filename: string
  query: string
  /** The requested path as Apache splits it: the part that exists, and the rest. */
  readonly there: string
  readonly pathInfo: string
  isChanged: boolean
  type: string | undefined
  rule: Captures
  condition: Captures
}

/** @param there the part of the path that exists, and its first part that does not */
export function rewrite(trial: Trial, tree: Tree, there: string): Rewritten {
  const same: Rewritten = { kind: 'same', type: undefined }
  const at = trial.levels.findLast(({ rules }) => rules.rewriting !== undefined)
  if (!at) return same
  const isOn = trial.levels.findLast(({ rules }) => rules.rewriting?.isOn !== undefined)?.rules.rewriting?.isOn
  const prefix = `${DOCUMENT_ROOT}/${at.folder}`
  const filename = `${DOCUMENT_ROOT}${trial.path}`
  // The slash is added first.
  if (!isOn || `${filename}/` === prefix) return same
  const { query } = trial
  const physical = `${DOCUMENT_ROOT}${there}`
  const pathInfo = trial.path.slice(there.length)
  const pass: Pass = {
    trial,
    tree,
    filename,
    query,
    there: physical,
    pathInfo,
    isChanged: false,
    type: undefined,
    rule: [],
    condition: [],
  }
  return run(pass, at, prefix)
}

function run(pass: Pass, { rules }: Level, prefix: string): Rewritten {
  const { steps, base } = rules.rewriting as NonNullable<typeof rules.rewriting>
  let rounds = 0
  let isEnd = false
  for (let i = 0; i < steps.length; i++) {
    const step = steps[i] as (typeof steps)[number]
    if (step.kind === 'wordpress') {
      // Existing files continue. For missing ones, WordPress answers, as it does without this block.
      if (pass.filename === `${DOCUMENT_ROOT}/index.php` || !kindAt(pass, pass.filename)) break
      continue
    }
    if (!applies(pass, step, prefix)) {
      while (step.chained && (steps[i] as RewriteRule).chained) i++
      continue
    }
    for (const env of step.env) setEnv(pass, env)
    if (step.type !== undefined) pass.type = step.type
    if (step.forbidden || step.gone) return { kind: 'status', status: step.forbidden ? 403 : 410 }
    if (step.redirect !== undefined && step.redirect >= 400) return { kind: 'status', status: step.redirect }
    if (step.to !== undefined) {
      substitute(pass, step, prefix)
      const external = redirectOf(pass, step, prefix, base)
      if (external) return external
    }
    if (step.end) isEnd = true
    if (step.end || step.last) break
    if (step.next) {
      if (++rounds > MOST_ROUNDS) return { kind: 'status', status: 500 }
      i = -1
      continue
    }
    i += step.skip
  }
  if (!pass.isChanged) return { kind: 'same', type: pass.type }
  const path = pathOf(pass.filename, prefix, base)
  if (path === pass.trial.path && pass.query === pass.trial.query) return { kind: 'same', type: pass.type }
  return { kind: 'inside', path: path.startsWith('/') ? path : `/${path}`, query: pass.query, isEnd, type: pass.type }
}

/** Converts a physical path to the path of an address. */
function pathOf(filename: string, prefix: string, base: string | undefined): string {
  if (base !== undefined && filename.startsWith(prefix)) return base + filename.slice(prefix.length)
  return filename.startsWith(`${DOCUMENT_ROOT}/`) ? filename.slice(DOCUMENT_ROOT.length) : filename
}

function applies(pass: Pass, rule: RewriteRule, prefix: string): boolean {
  const subject = pass.filename.startsWith(prefix) ? pass.filename.slice(prefix.length) : pass.filename
  const match = rule.pattern.exec(subject, pass.trial.work)
  if ((match !== undefined) === rule.negated) return false
  pass.rule = match ?? []
  pass.condition = []
  const { conditions } = rule
  for (let i = 0; i < conditions.length; i++) {
    const condition = conditions[i] as RewriteCondition
    const holds = meets(pass, condition)
    if (condition.or) {
      if (holds) while (i < conditions.length && (conditions[i] as RewriteCondition).or) i++
    } else if (!holds) return false
  }
  return true
}

function meets(pass: Pass, { subject, condition, negated, ignoresCase }: RewriteCondition): boolean {
  const text = expand(pass, subject)
  switch (condition.kind) {
    case 'pattern': {
      const match = condition.pattern.exec(text, pass.trial.work)
      if (match && !negated) pass.condition = match
      return (match !== undefined) !== negated
    }
    case 'file': {
      const found = condition.test === 'never' ? undefined : kindAt(pass, text)
      const is =
        condition.test === 'd'
          ? found?.kind === 'directory'
          : found?.kind === 'file' && (condition.test === 'f' || found.bytes > 0)
      return is !== negated
    }
    case 'text': {
      const than = expand(pass, condition.text)
      const [a, b] = ignoresCase ? [text.toLowerCase(), than.toLowerCase()] : [text, than]
      const is = { '=': a === b, '<': a < b, '>': a > b, '<=': a <= b, '>=': a >= b }[condition.operator]
      return is !== negated
    }
    case 'number': {
      const [a, b] = [Number.parseInt(text, 10) || 0, Number(condition.text)]
      const is = { eq: a === b, ne: a !== b, lt: a < b, le: a <= b, gt: a > b, ge: a >= b }[condition.operator]
      return is !== negated
    }
  }
}

function kindAt({ tree }: Pass, path: string): ReturnType<Tree['kindOf']> {
  if (path !== DOCUMENT_ROOT && !path.startsWith(`${DOCUMENT_ROOT}/`)) return undefined
  const parts = path
    .slice(DOCUMENT_ROOT.length + 1)
    .split('/')
    .filter((part) => part !== '' && part !== '.')
  if (parts.some((part) => part === '..' || part.includes('\0'))) return undefined
  const found = tree.kindOf(parts)
  // A file is not a folder.
  return found?.kind === 'file' && path.endsWith('/') ? undefined : found
}

function substitute(pass: Pass, rule: RewriteRule, prefix: string): void {
  const text = expand(pass, rule.to as string, rule.escapesReferences)
  const at = text.indexOf('?')
  const before = pass.query
  const path = at < 0 ? text : text.slice(0, at)
  if (at >= 0) {
    const query = text.slice(at + 1)
    pass.query = rule.appendQuery && before !== '' ? (query === '' ? before : `${query}&${before}`) : query
  } else if (rule.dropQuery) pass.query = ''
  pass.isChanged = true
  pass.filename = path.startsWith('/') || isAbsolute(path) ? path : prefix + path
}

const isAbsolute = (text: string): boolean =>
  /^[a-z][a-z0-9+.-]{0,20}:(?:\/\/|[^/])/i.test(text) &&
  /^(?:https?|ftp|ldaps?|mailto|news|nntp|wss?|balancer|fcgi|unix|scgi|ajp):/i.test(text)

export const originOf = ({ https, host }: Trial['asked']): string => `${https ? 'https' : 'http'}://${host}`

function redirectOf(pass: Pass, rule: RewriteRule, prefix: string, base: string | undefined): Rewritten | undefined {
  const { asked, query: askedQuery } = pass.trial
  const own = originOf(asked)
  if (rule.redirect === undefined && isAbsolute(pass.filename)) {
    // The site's own origin is not an external redirect.
    const rest = pass.filename.startsWith(own) ? pass.filename.slice(own.length) : undefined
    if (rest !== undefined && (rest === '' || rest.startsWith('/'))) {
      pass.filename = rest === '' ? '/' : rest
      return undefined
    }
  } else if (rule.redirect === undefined) return undefined
  const absolute = isAbsolute(pass.filename)
  const path = absolute ? pass.filename : pathOf(pass.filename, prefix, base)
  const escaped = rule.unescaped ? path : escapeUri(path)
  const { query } = pass
  const tail = query === '' ? '' : `?${rule.unescaped || query === askedQuery ? query : escapeUri(query)}`
  const location = `${absolute ? '' : own}${escaped}${tail}`
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what would end the header, or is no text of one
  if (/[\x00-\x1f\x7f]/.test(location) || location.length > MOST_CHARACTERS) return { kind: 'status', status: 403 }
  return { kind: 'redirect', status: rule.redirect ?? 302, location: ascii(location) }
}

/** Escapes all but ASCII, for use in a header. */
const ascii = (text: string): string => text.replace(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part))

/** Escapes a path as Apache does. The remaining characters have no meaning in a path. */
export const escapeUri = (text: string): string =>
  text.replace(/[^A-Za-z0-9$\-_.+!*'(),:@&=/~;]+/g, (part) =>
    encodeURIComponent(part.toWellFormed()).replaceAll('%3B', ';'),
  )

function expand(pass: Pass, text: string, escapes = false): string {
  if (!/[$%\\]/.test(text)) return text
  const reference = (captures: Captures, digit: string) => {
    const value = captures[Number(digit)] ?? ''
    return escapes ? encodeURIComponent(value.toWellFormed()) : value
  }
  const out = text.replace(/\\(.)|\$(\d)|%(\d)|%\{([^}]*)\}/g, (_all, escaped, rule, condition, name) => {
    if (escaped !== undefined) return escaped
    if (rule !== undefined) return reference(pass.rule, rule)
    return condition !== undefined ? reference(pass.condition, condition) : variable(pass, name)
  })
  return out.slice(0, MOST_CHARACTERS)
}

function variable(pass: Pass, name: string): string {
  const { trial } = pass
  const { asked } = trial
  if (name.startsWith('HTTP:')) return visitorHeader(trial, name.slice(5).toLowerCase())
  if (name.startsWith('ENV:')) return envOf(trial).get(name.slice(4)) ?? ''
  if (name.startsWith('TIME')) return timeOf(trial, name.slice(5))
  switch (name) {
    case 'REQUEST_URI':
      return trial.path
    case 'REQUEST_FILENAME':
    case 'SCRIPT_FILENAME':
    case 'LA-U:REQUEST_FILENAME':
    case 'LA-F:REQUEST_FILENAME':
      return pass.isChanged ? pass.filename : pass.there
    case 'PATH_INFO':
      return pass.pathInfo
    case 'QUERY_STRING':
      return pass.query
    case 'HTTP_HOST':
      return asked.host
    case 'SERVER_NAME':
      return asked.host.replace(/:\d+$/, '')
    case 'SERVER_PORT':
      return /:(\d+)$/.exec(asked.host)?.[1] ?? (asked.https ? '443' : '80')
    case 'SERVER_PROTOCOL':
      return 'HTTP/1.1'
    case 'SERVER_SOFTWARE':
      return 'Apache'
    case 'HTTPS':
      return asked.https ? 'on' : 'off'
    case 'REQUEST_SCHEME':
      return asked.https ? 'https' : 'http'
    case 'REQUEST_METHOD':
      return asked.method
    case 'THE_REQUEST':
      return `${asked.method} ${asked.target} HTTP/1.1`
    case 'DOCUMENT_ROOT':
    case 'CONTEXT_DOCUMENT_ROOT':
      return DOCUMENT_ROOT
    case 'REMOTE_ADDR':
    case 'REMOTE_HOST':
    case 'CONN_REMOTE_ADDR':
      return addressOf(trial)
    case 'REMOTE_USER':
      trial.depends.isPrivate = true
      return trial.user ?? ''
    case 'IS_SUBREQ':
      return 'false'
    case 'HTTP_USER_AGENT':
    case 'HTTP_REFERER':
    case 'HTTP_COOKIE':
    case 'HTTP_FORWARDED':
    case 'HTTP_ACCEPT':
    case 'HTTP_PROXY_CONNECTION':
      return visitorHeader(trial, name.slice(5).toLowerCase().replace('_', '-'))
    default:
      return ''
  }
}

function timeOf({ depends }: Trial, part: string): string {
  depends.isPrivate = true
  const [year, month, day, hour, minute, second] = new Date().toISOString().split(/[-T:.]/) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ]
  const parts: Record<string, string> = {
    YEAR: year,
    MON: month,
    DAY: day,
    HOUR: hour,
    MIN: minute,
    SEC: second,
    WDAY: String(new Date().getUTCDay()),
  }
  return part === '' ? `${year}${month}${day}${hour}${minute}${second}` : (parts[part] ?? '')
}

function setEnv(pass: Pass, text: string): void {
  const env = envOf(pass.trial)
  const at = text.indexOf(':')
  if (text.startsWith('!')) env.delete(text.slice(1))
  else if (at < 0) env.set(text, '')
  else env.set(text.slice(0, at), expand(pass, text.slice(at + 1)))
}

/** Returns the first redirect of mod_alias for the address. Those of the innermost folder come first. */
export function redirectFor(trial: Trial): Rewritten | undefined {
  for (const { rules } of trial.levels.toReversed())
    for (const { status, path, pattern, to } of rules.redirects) {
      let target: string | undefined
      if (pattern) {
        const match = pattern.exec(trial.path, trial.work)
        if (match) target = escapeTarget(to.replace(/\$(\d)/g, (_all, digit) => match[Number(digit)] ?? ''))
      } else {
        const rest = behind(trial.path, path as string)
        if (rest !== undefined) target = to + escapeUri(rest)
      }
      if (target === undefined) continue
      if (status < 300 || status > 399) return { kind: 'status', status }
      const absolute = target.startsWith('/') ? originOf(trial.asked) + target : target
      const location = trial.query !== '' && !absolute.includes('?') ? `${absolute}?${trial.query}` : absolute
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what would end the header
      if (/[\x00-\x1f\x7f]/.test(location)) return { kind: 'status', status: 400 }
      return { kind: 'redirect', status, location: ascii(location) }
    }
  return undefined
}

function escapeTarget(target: string): string {
  const [, origin = '', path, tail = ''] =
    /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)?([^?#]*)([?#][\s\S]*)?$/i.exec(target) ?? []
  return `${origin}${escapeUri(path ?? '')}${tail}`
}

/** Returns the part of the path after `alias`. The path must begin with the alias, up to the end of a part. */
function behind(path: string, alias: string): string | undefined {
  const wanted = alias.replace(/\/{2,}/g, '/')
  if (!path.startsWith(wanted)) return undefined
  const rest = path.slice(wanted.length)
  return wanted.endsWith('/') || rest === '' || rest.startsWith('/') ? rest : undefined
}
