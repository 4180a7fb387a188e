import { closest } from '../../platform/closest.ts'
import { OperatorError } from '../../platform/operator-error.ts'
import { UsageError } from '../usage-error.ts'
import { printHelp } from './api-help.ts'
import { type ApiCommand, catalogue } from './catalogue.ts'
import type { CommandContext } from './command-context.ts'
import { type OwnCommand, ownCommands } from './own-commands.ts'
import { parseCall } from './parse-call.ts'
import { explained, runOperation } from './run.ts'
import { jsonOf } from './show.ts'

type Found = { readonly operation: ApiCommand } | { readonly own: OwnCommand }

/** Returns whether a word begins an API command. */
export const isApiNoun = (word: string): boolean =>
  Object.hasOwn(catalogue().nouns, word) || ownCommands.some(({ name }) => name.split(' ')[0] === word)

/** Returns an error for an unknown first word, with a suggestion. */
export function noSuchWord(word: string, locals: readonly string[]): UsageError {
  const known = [...new Set([...allNames().map((name) => name.split(' ')[0] as string), ...locals])]
  const near = closest(word, known)
  return new UsageError(`Unknown command "${word}". See: stead help`, near && `stead ${near}`)
}

/**
 * Suggests the plural for a command like `stead site list`: operator commands have nouns in the singular, API commands
 * in the plural.
 */
export function inPlural(noun: string, verb: string): UsageError | undefined {
  const name = `${noun}s ${verb}`
  if (!allNames().includes(name)) return undefined
  return new UsageError(`Unknown command "${noun} ${verb}". See: stead help ${noun}`, `stead ${name}`)
}

/**
 * Runs a command line whose first word is an API noun ({@link isApiNoun}).
 * @returns the exit code; errors are printed
 */
export async function runForApi(argv: readonly string[], around: CommandContext): Promise<number> {
  const asJson = argv.includes('--json')
  let command: ApiCommand | undefined
  try {
    const { words, rest } = split(argv)
    const isHelp = rest.includes('--help') || rest.includes('-h')
    if (isHelp && words.length === 1) return printHelp(words.join(' '), around.out) ? 0 : 2
    const found = commandOf(words)
    if (isHelp) return printHelp(words.join(' '), around.out) ? 0 : 2
    if ('own' in found) return await found.own.run(parseCall(found.own, rest), around)
    command = found.operation
    return await runOperation(command, rest, around)
  } catch (error) {
    const known = explained(error, asJson, command) ?? operatorError(error, asJson)
    if (!known) throw error
    around.err.write(`${known.text}\n`)
    return known.code
  }
}

const operatorError = (error: unknown, asJson: boolean) => {
  if (!(error instanceof OperatorError)) return undefined
  return { text: asJson ? jsonOf({ code: 'usage', errors: [error.message] }) : error.message, code: error.exitCode }
}

/** Returns the name of the command, and the rest. Flags without a value may come before it. */
function split(argv: readonly string[]): { words: string[]; rest: string[] } {
  const at = argv.findIndex((word) => !word.startsWith('-'))
  const noun = argv[at] as string
  const verb = argv[at + 1]
  const hasVerb = verb !== undefined && !verb.startsWith('-') && !isAlone(noun, verb)
  const words = hasVerb ? [noun, verb] : [noun]
  return { words, rest: [...argv.slice(0, at), ...argv.slice(at + words.length)] }
}

/** Returns whether a command has no verb, such as `login`. Its words are then its own. */
const isAlone = (noun: string, verb: string): boolean =>
  ownCommands.some(({ name }) => name === noun) && !ownCommands.some(({ name }) => name === `${noun} ${verb}`)

/** @throws UsageError with a suggestion */
export function commandOf([noun = '', verb]: readonly string[]): Found {
  const name = verb === undefined ? noun : `${noun} ${verb}`
  const own = ownCommands.find((command) => command.name === name)
  if (own) return { own }
  const operation = catalogue().commands.find((command) => command.name === name)
  if (operation) return { operation }
  const verbs = allNames().flatMap((name) => (name.startsWith(`${noun} `) ? [name.slice(noun.length + 1)] : []))
  const near =
    verb && (closest(verb, verbs) ?? verbs.find((each) => each.startsWith(`${verb}-`) || each.endsWith(`-${verb}`)))
  throw new UsageError(
    `"stead ${noun}" requires one of: ${verbs.join(', ')}. See: stead help ${noun}`,
    near && `stead ${noun} ${near}`,
  )
}

/** Returns the names of all API commands. */
export const allNames = (): string[] => [...catalogue().commands, ...ownCommands].map(({ name }) => name)
