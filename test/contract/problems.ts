/** The problems that an endpoint's contract declares, and how an answer maps to one of them. */
import { apiProblems } from '../../src/app.ts'
import type { Endpoint } from '../../src/platform/http/endpoint.ts'
import { takesKey } from '../../src/platform/http/idempotency/takes-key.ts'
import { changes } from '../../src/platform/http/openapi/openapi-document.ts'
import { type Access, capabilities } from '../../src/resources/access/access.ts'

export type ProblemCode = string

export const statusOf = (code: ProblemCode): number => apiProblems.find((each) => each.code === code)?.status as number

/**
 * Returns all problems that an endpoint may answer, in order of name: its own, and those that follow from the rest of
 * its contract.
 */
export function declaredOf(endpoint: Endpoint): ProblemCode[] {
  const { problems = [], params, query, body, anyBody, form, starts, rate, access, upload } = endpoint
  const isGuarded = access !== 'public'
  const declared: readonly (readonly [boolean, readonly ProblemCode[]])[] = [
    [true, [...problems.map(({ code }) => code), 'internal', 'unavailable', 'body_too_large', 'too_many_bodies']],
    [true, ['unsupported_media_type']],
    [!anyBody && !upload, ['invalid_json']],
    [form === true, ['invalid_form']],
    [body !== undefined || query !== undefined, ['invalid_input']],
    [isGuarded, ['unauthorized', 'wrong_scheme', 'bare_token', 'invalid_token', 'cross_site']],
    [isGuarded || rate === 'address', ['rate_limited']],
    [params !== undefined, ['not_found']],
    [true, refusalsOf(endpoint)],
    [endpoint.proof === true, ['proof_needed']],
    [changes(endpoint) || takesKey(endpoint), ['outcome_unknown', 'disk_full']],
    [
      takesKey(endpoint),
      ['invalid_idempotency_key', 'idempotency_key_reused', 'idempotency_in_progress', 'idempotency_keys_exhausted'],
    ],
    [starts === true && !startsAlone.has(endpoint.id), ['operation_limit_reached']],
  ]
  return [...new Set(declared.flatMap(([applies, codes]) => (applies ? codes : [])))].sort()
}

/** Their operations never exceed the queue: the site is new, or everything else on it is canceled. */
const startsAlone = new Set(['createSite', 'cloneSite', 'createEnvironment', 'deleteSite'])

function refusalsOf(endpoint: Endpoint): ProblemCode[] {
  const access = endpoint.access as Access
  if (access === 'public') return []
  if ('account' in access) {
    if (access.account === 'createSites') return ['not_found']
    if (access.account === 'session') return ['no_session']
    if (access.account === 'operator') return ['insufficient_scope', 'operator_only']
    return access.scope === 'owner' ? ['insufficient_scope'] : []
  }
  const names = 'sites' in access ? access.sites : [access.site, ...Object.values(access.fields ?? {})]
  const needed: { role: string | null; scope?: string }[] = names.map((name) => capabilities[name])
  return [
    'not_found',
    ...(needed.some(({ role }) => role) ? (['forbidden'] as const) : []),
    ...(needed.some(({ scope }) => scope) ? (['insufficient_scope'] as const) : []),
  ]
}

interface Answer {
  readonly statusCode: number
  readonly body: string
}

/**
 * Returns the problem of a failure by its code, if status and text match. Token errors of RFC 6749 have no code, so
 * status and text decide. `undefined`: not in the catalogue.
 */
export function problemOf({ statusCode, body }: Answer): ProblemCode | undefined {
  const { code: said, errors, error_description: description } = JSON.parse(body)
  const text = (errors?.[0] ?? description) as string
  const fitting = patterns.filter(({ status, pattern }) => status === statusCode && pattern.test(text))
  return description === undefined ? fitting.find(({ code }) => code === said)?.code : fitting[0]?.code
}

const escaped = (text: string) => text.replace(/[.*+?^$()|[\]\\]/g, '\\$&')

/** Texts that consist only of a placeholder come last, because they match everything. */
const patterns = apiProblems
  .map(({ code, status, text }) => ({
    code,
    status,
    pattern: new RegExp(`^${escaped(text).replace(/\{\w+\}/g, '.*')}$`, 's'),
    fixed: text.replace(/\{\w+\}/g, '').length,
  }))
  .sort((left, right) => right.fixed - left.fixed)
