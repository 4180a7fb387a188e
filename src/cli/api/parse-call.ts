import { parseArgs } from 'node:util'
import { closest } from '../../platform/closest.ts'
import type { Flag } from '../command.ts'
import { UsageError } from '../usage-error.ts'
import type { Field } from './catalogue.ts'
import { choicesOf, isSwitch, parseValue, placeholderOf, readText } from './values.ts'

/** The parts of an API command on the command line. */
export interface Usage {
  readonly name: string
  readonly words: readonly Field[]
  readonly flags: readonly Field[]
  /** Flags that are not fields of the operation. */
  readonly own: Readonly<Record<string, Flag>>
}

/** A command line after parsing. */
export interface ParsedCall {
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, unknown>>
  readonly body: Readonly<Record<string, unknown>> | undefined
  /** Its own flags: text, or whether a switch is set. */
  readonly own: Readonly<Record<string, string | boolean | undefined>>
}

/** Returns a field as a flag of help and completion. */
export function shownFlag(field: Field): Flag {
  const choices = choicesOf(field)
  const { description = '', items } = field.schema
  const members = Object.keys(items?.properties ?? {}).map((name) => `${name}=…`)
  const text =
    description.split('\n')[0] || (members.length > 0 ? `${members.join(',')}, or JSON; repeat for each entry` : '')
  return {
    help: `${text}${field.isNeeded ? ' (needed)' : ''}`.trim(),
    ...(!isSwitch(field) && (choices.length > 0 ? { choices } : { value: placeholderOf(field) })),
  }
}

/**
 * Parses a command line.
 * @param argv the words after the name of the command
 * @throws UsageError
 */
export function parseCall(usage: Usage, argv: readonly string[]): ParsedCall {
  const see = `See: stead help ${usage.name}`
  const { given, own, words } = sorted(usage, argv, see)
  const pathWords = usage.words.filter((field) => field.in === 'path')
  const missing = pathWords[words.length]
  if (missing?.isNeeded) throw new UsageError(`${missing.flag} is missing. ${usageLine(usage)}`)
  const path = Object.fromEntries(pathWords.slice(0, words.length).map(({ name }, n) => [name, words[n] as string]))
  const rest = words.slice(pathWords.length)
  const bodyWords = usage.words.filter((field) => field.in === 'body' && !given.has(field))
  for (const [n, field] of bodyWords.entries()) {
    const isLast = n === bodyWords.length - 1
    const own = isLast && [field.schema.type].flat().includes('array') ? rest.splice(0) : rest.splice(0, 1)
    if (own.length > 0) given.set(field, own)
  }
  if (rest.length > 0) throw new UsageError(`"stead ${usage.name}" does not accept ${rest[0]}. ${see}`)
  const valuesIn = (place: Field['in']) =>
    Object.fromEntries(
      [...given]
        .filter(([field]) => field.in === place)
        .map(([field, texts]) => [field.name, parseValue(field, texts)]),
    )
  const input = own.input === undefined ? {} : inputOf(own.input as string)
  const body = { ...input, ...valuesIn('body') }
  for (const field of usage.flags)
    if (field.isNeeded && (field.in === 'body' ? body[field.name] === undefined : !given.has(field)))
      throw new UsageError(`--${field.flag} is required. ${see}`)
  return { path, query: valuesIn('query'), body: Object.keys(body).length > 0 ? body : undefined, own }
}

/** Returns the usage line, such as `stead sites clone SITE NAME [flags]`. */
export function usageLine({ name, words }: Pick<Usage, 'name' | 'words'>): string {
  const shown = words.map((field) => {
    const word = field.in === 'path' ? field.flag : field.flag.toUpperCase().replace(/^SET-/, '')
    const several = [field.schema.type].flat().includes('array') ? `${word}…` : word
    return field.isNeeded ? several : `[${several}]`
  })
  return ['stead', name, ...shown].join(' ')
}

function inputOf(file: string): Record<string, unknown> {
  const text = readText(file.replace(/^@/, ''))
  try {
    const value = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // The error below reports it.
  }
  throw new UsageError(`${file} must contain a JSON object`)
}

function sorted({ name, flags, own }: Usage, argv: readonly string[], see: string) {
  const fields = new Map(flags.map((field) => [field.flag, field]))
  const takesValue = (flag: string): boolean => {
    const field = fields.get(flag)
    return field ? !isSwitch(field) : own[flag]?.value !== undefined || own[flag]?.choices !== undefined
  }
  const names = [...fields.keys(), ...Object.keys(own)]
  const options = Object.fromEntries(
    names.map((flag) => {
      const type = takesValue(flag) ? ('string' as const) : ('boolean' as const)
      return [flag, own[flag]?.short ? { type, short: own[flag].short } : { type }]
    }),
  )
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true, allowNegative: true })
  const given = new Map<Field, string[]>()
  const values: Record<string, string | boolean> = {}
  const words: string[] = []
  for (const token of tokens) {
    if (token.kind === 'positional') words.push(token.value)
    if (token.kind !== 'option') continue
    const flag = token.name.replace(/^no-(?=.)/, (no) => (names.includes(token.name) ? no : ''))
    const typed = (argv[token.index] as string).split('=')[0] as string
    if (!names.includes(flag))
      throw new UsageError(`Unknown flag ${typed} for "stead ${name}". ${see}`, near(typed, names))
    const isNo = flag !== token.name || typed === `--no-${flag}`
    if (takesValue(flag)) {
      if (isNo || token.value === undefined || (!token.inlineValue && /^--./.test(token.value)))
        throw new UsageError(`--${flag} requires a value: --${flag}=…`)
      const field = fields.get(flag)
      if (field) given.set(field, [...(given.get(field) ?? []), token.value])
      else values[flag] = token.value
    } else {
      const field = fields.get(flag)
      if (field) given.set(field, [isNo ? 'no' : (token.value ?? 'yes')])
      else if (token.value !== undefined || isNo) throw new UsageError(`--${flag} does not accept a value`)
      else values[flag] = true
    }
  }
  return { given, own: values, words }
}

const near = (typed: string, names: readonly string[]): string | undefined =>
  closest(
    typed.replace(/^-*/, '--'),
    names.map((flag) => `--${flag}`),
  )
