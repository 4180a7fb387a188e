import { readFileSync } from 'node:fs'
import { closest } from '../../platform/closest.ts'
import { UsageError } from '../usage-error.ts'
import { type Field, isOfType, isSiteId, type Schema } from './catalogue.ts'

export const isSwitch = ({ schema }: Field): boolean => isOfType(schema, 'boolean')
export const isList = ({ schema }: Field): boolean => isOfType(schema, 'array')

/** Returns the only values that a flag accepts. */
export const choicesOf = ({ schema }: Field): readonly string[] =>
  ((schema.enum ?? schema.items?.enum ?? []) as unknown[]).filter((each) => each !== null).map(String)

/** Returns the placeholder of the value in the help. */
export function placeholderOf({ schema, flag }: Field): string {
  const one = isOfType(schema, 'array') ? schema.items : schema
  if (isOfType(one, 'object')) return 'KEY=VALUE,…'
  const word = isOfType(one, 'integer') || isOfType(one, 'number') ? 'NUMBER' : flag.toUpperCase().replace(/^SET-/, '')
  return isOfType(schema, 'array') ? `${word},…` : word
}

/**
 * Converts texts of the command line to a value.
 * @throws UsageError with the valid forms
 */
export function parseValue(field: Field, texts: readonly string[]): unknown {
  if (!isList(field)) return oneOf(field, field.schema, texts.at(-1) as string)
  const { items = {} } = field.schema
  if (isOfType(items, 'object')) return texts.flatMap((text) => objectsOf(field, items, text))
  return texts.flatMap((text) => text.split(',').filter(Boolean)).map((text) => oneOf(field, items, text))
}

function oneOf(field: Field, schema: Schema, text: string): unknown {
  if (text === 'null' && isOfType(schema, 'null')) return null
  if (isOfType(schema, 'boolean')) return yesOrNo(field, text)
  const isNumber = isOfType(schema, 'integer') || isOfType(schema, 'number')
  if (isNumber && !isOfType(schema, 'string')) {
    // `resolvePath` replaces the name with the number once the server is known.
    if (isSiteId(field) && /^[a-z][a-z0-9-]+$/i.test(text)) return text
    if (!/^-?\d+(\.\d+)?$/.test(text))
      throw new UsageError(`${nameOf(field)} must be a number, not ${JSON.stringify(text)}`)
    return Number(text)
  }
  if (isOfType(schema, 'object')) return parsed(field, text)
  const choices = choicesOf(field)
  if (choices.length > 0 && !choices.includes(text))
    throw new UsageError(`${nameOf(field)} must be one of: ${choices.join(', ')}`, closest(text, choices))
  return contentOf(field, text)
}

const nameOf = ({ in: place, flag }: Field): string => (place === 'path' ? flag : `--${flag}`)

function yesOrNo(field: Field, text: string): boolean {
  if (/^(true|yes|on|1)$/i.test(text)) return true
  if (/^(false|no|off|0)$/i.test(text)) return false
  throw new UsageError(`${nameOf(field)} must be yes or no, not ${JSON.stringify(text)}`)
}

/** Returns the content of a file for `@file`, and standard input for `@-`. A bare `@` is a name in DNS. */
function contentOf(field: Field, text: string): string {
  if (field.in !== 'body' || !/^@./.test(text)) return text
  if (text.startsWith('@@')) return text.slice(1)
  return readText(text.slice(1))
}

/**
 * Reads a file.
 * @param file `-` for standard input
 * @throws UsageError
 */
export function readText(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

function parsed(field: Field, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${nameOf(field)} must be JSON, not ${JSON.stringify(text)}`)
  }
}

/** Parses JSON, `path=akismet,version=5.3`, or only the first required member: `akismet`. */
function objectsOf(field: Field, schema: Schema, text: string): unknown[] {
  if (/^[[{]/.test(text)) return [parsed(field, text)].flat()
  const { properties = {}, required = [] } = schema
  const names = Object.keys(properties)
  const pairs = text.split(',').map((pair) => /^(\w+)=(.*)$/.exec(pair))
  if (pairs.every((pair) => pair && names.includes(pair[1] as string))) {
    const values = (pairs as RegExpExecArray[]).map(([, name = '', value = '']) => {
      const member = { ...field, schema: properties[name] as Schema }
      return [name, oneOf(member, member.schema, value)]
    })
    return [Object.fromEntries(values)]
  }
  const [first] = required
  if (first === undefined || required.length > 1)
    throw new UsageError(`${nameOf(field)} must be ${names.map((name) => `${name}=…`).join(',')}, or JSON`)
  return [{ [first]: text }]
}
