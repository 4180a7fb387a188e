import type { IncomingHttpHeaders } from 'node:http'
import type { StepsLeft } from './pattern.ts'
import type { Rules } from './rules.ts'

/** The path at which PHP sees the web root, and which rules get for it. */
export const DOCUMENT_ROOT = '/wordpress'

/** A request, as rules see it. */
export interface Asked {
  readonly method: string
  /** The path and query as the visitor sent them. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  readonly address: string
  readonly https: boolean
  /** With the port, if one was given. */
  readonly host: string
}

/** One folder on the way to the requested path, with the rules of its `.htaccess`. */
export interface Level {
  /** From the web root, with a trailing slash. `''` is the web root. */
  readonly folder: string
  readonly rules: Rules
}

/** The content of the web root, as PHP sees it. */
export interface Tree {
  kindOf(parts: readonly string[]): { readonly kind: 'file' | 'directory'; readonly bytes: number } | undefined
}

/** The request data that an answer depends on, besides its address. */
export class Dependence {
  /** Headers of the visitor, in lower case. */
  readonly headers = new Set<string>()
  /** Whether it depends on something that no header shows: the visitor, their address, or the time. */
  isPrivate = false
}

/** The state of a request while rules are tried. */
export interface Trial {
  readonly asked: Asked
  readonly levels: readonly Level[]
  readonly work: StepsLeft
  readonly depends: Dependence
  /** The path under test: decoded, with a leading slash. It changes with internal redirects. */
  readonly path: string
  readonly query: string
  /** Set by `SetEnv`, `SetEnvIf`, and rules. Undefined until it is first needed. */
  env: Map<string, string> | undefined
  user: string | undefined
}

/** Returns a header of the visitor, and makes the answer depend on it. */
export function visitorHeader({ asked, depends }: Trial, name: string): string {
  if (name === 'host') return asked.host
  if (name !== 'authorization') depends.headers.add(name)
  const value = asked.headers[name]
  return Array.isArray(value) ? value.join(', ') : (value ?? '')
}

/** Returns the visitor's address, and makes the answer depend on it. */
export function addressOf({ asked, depends }: Trial): string {
  depends.isPrivate = true
  return asked.address
}

export function envOf(trial: Trial): Map<string, string> {
  if (trial.env) return trial.env
  const env = new Map<string, string>()
  trial.env = env
  for (const { rules } of trial.levels)
    for (const { attribute, pattern, names } of rules.env) {
      if (pattern && !pattern.test(attributeOf(trial, attribute), trial.work)) continue
      for (const { name, value } of names)
        if (value === undefined) env.delete(name)
        else env.set(name, value)
    }
  return env
}

function attributeOf(trial: Trial, attribute: string): string {
  switch (attribute) {
    case 'remote-addr':
      return addressOf(trial)
    case 'remote-host':
    case 'server-addr':
      return ''
    case 'request-method':
      return trial.asked.method
    case 'request-protocol':
      return 'HTTP/1.1'
    case 'request-uri':
      return trial.path
    default:
      return visitorHeader(trial, attribute)
  }
}
