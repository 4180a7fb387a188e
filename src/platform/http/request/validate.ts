import type { TObject } from 'typebox'
import { validatorOf } from '../../validator-of.ts'
import { coerce } from './coerce.ts'

/** A fault as the validator reports it. */
interface Fault {
  keyword: string
  instancePath: string
  schemaPath: string
  params: Record<string, unknown>
  message: string
}

/**
 * Coerces and checks one part of a request.
 * @returns the value for the handler, or the faults, each with the name of its field (`plugins[0].path: is required`)
 */
export function check(schema: TObject, given: unknown): { value: unknown } | { faults: string[] } {
  const validator = validatorOf(schema)
  const value = coerce(schema as never, given)
  const faults = new Set<string>()
  if (validator.Check(value)) {
    findUnstorable(value, '', 0, faults)
    return faults.size === 0 ? { value } : { faults: [...faults] }
  }
  const found = validator.Errors(value) as unknown as Fault[]
  const hasBadLength = new Set(found.flatMap(({ keyword, instancePath }) => (isLength(keyword) ? [instancePath] : [])))
  for (const fault of found) {
    // If a text is too short or too long, the allowed characters do not help.
    if (fault.keyword === 'pattern' && hasBadLength.has(fault.instancePath)) continue
    for (const text of faultTexts(fault, schema)) faults.add(text)
  }
  return { faults: [...faults] }
}

const isLength = (keyword: string): boolean => keyword === 'minLength' || keyword === 'maxLength'

/** Deeper than any contract, because later code may recurse into a value. */
const DEEPEST = 32

/**
 * Finds values that fit every contract and still cannot be stored. PostgreSQL's text has no NUL, UTF-8 has no half of a
 * surrogate pair, and safe integers end at 2^53.
 */
function findUnstorable(value: unknown, path: string, depth: number, faults: Set<string>): void {
  if (typeof value === 'string') {
    if (value.includes('\u0000')) faults.add(`${path}: must not contain NUL characters`)
    if (!value.isWellFormed()) faults.add(`${path}: must be well-formed Unicode, without unpaired surrogates`)
  } else if (typeof value === 'number') {
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) faults.add(`${path}: is out of range`)
  } else if (typeof value === 'object' && value !== null) {
    if (depth === DEEPEST) faults.add(`${path}: is nested too deeply`)
    else if (Array.isArray(value))
      for (const [index, entry] of value.entries()) findUnstorable(entry, `${path}[${index}]`, depth + 1, faults)
    else
      for (const key of Object.keys(value)) {
        const entry = (value as Record<string, unknown>)[key]
        findUnstorable(entry, path ? `${path}.${key}` : key, depth + 1, faults)
      }
  }
}

function faultTexts(fault: Fault, schema: TObject): string[] {
  const path = fieldPath(fault.instancePath)
  if (fault.keyword === 'required')
    return (fault.params.requiredProperties as string[]).map((name) => `${path ? `${path}.` : ''}${name}: is required`)
  // The union itself names its branches.
  if (/\/anyOf\/\d+/.test(fault.schemaPath)) return []
  if (!path) return [fault.keyword === 'type' ? keywordText(fault) : fault.message]
  return [`${path}: ${ownText(schema, fault) ?? keywordText(fault)}`]
}

/** Returns the schema's description if a pattern does not match, because a pattern means nothing to most people. */
function ownText(schema: TObject, fault: Fault): string | undefined {
  if (fault.keyword !== 'pattern') return undefined
  let at: unknown = schema
  for (const key of fault.schemaPath.split('/').slice(1)) at = (at as Record<string, unknown> | undefined)?.[key]
  return (at as { description?: string } | undefined)?.description
}

function keywordText({ keyword, params, message }: Fault): string {
  if (keyword === 'minLength')
    return params.limit === 1 ? 'must not be empty' : `must be at least ${params.limit} characters`
  if (keyword === 'maxLength') return `must be at most ${params.limit} characters`
  if (keyword === 'minItems')
    return params.limit === 1 ? 'must not be empty' : `must have at least ${params.limit} entries`
  if (keyword === 'maxItems') return `must have at most ${params.limit} entries`
  if (keyword === 'minimum') return `must be at least ${params.limit}`
  if (keyword === 'maximum') return `must be at most ${params.limit}`
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).map(String).join(', ')}`
  if (keyword === 'format') return `must be a valid ${String(params.format)}`
  if (keyword === 'type') return `must be ${typeNames(params.type)}`
  if (keyword === 'anyOf') return 'must have one of the allowed forms'
  return message
}

const articles: Record<string, string> = {
  integer: 'an integer',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  null: 'null',
}

function typeNames(type: unknown): string {
  return [type]
    .flat()
    .map((name) => articles[name as string] ?? String(name))
    .join(' or ')
}

/** Converts `/plugins/0/path` to `plugins[0].path`. */
function fieldPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key, index) => (/^\d+$/.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join('')
}
