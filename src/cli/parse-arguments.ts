import { parseArgs } from 'node:util'
import { closest } from '../platform/closest.ts'
import { allSettings, type Command, type Flag, settingFlags, takesValue } from './command.ts'
import { commands, commonFlags, nouns, verbsOf } from './commands.ts'
import { UsageError } from './usage-error.ts'

/** A command line after parsing. Settings are still text. */
export interface ParsedArguments {
  readonly command: Command
  /** The words after the command's name. */
  readonly words: readonly string[]
  /** Every flag of the command: text, a switch as true or false, `undefined` for one that was not given. */
  readonly flags: Readonly<Record<string, string | boolean | undefined>>
  /** By flag: `--data-dir`. */
  readonly settings: Readonly<Record<string, string>>
}

const ofSettings = settingFlags(allSettings)
/**
 * The flags of all commands. A flag may come before the command, so one that takes a value must do so in every command.
 */
const knownFlags: ReadonlyMap<string, Flag> = new Map(
  [ofSettings, commonFlags, ...commands.map(({ flags }) => flags)].flatMap((flags) => Object.entries(flags)),
)
const options = Object.fromEntries(
  [...knownFlags].map(([name, flag]) => {
    const type = takesValue(flag) ? ('string' as const) : ('boolean' as const)
    return [name, flag.short ? { type, short: flag.short } : { type }]
  }),
)

/**
 * Splits `stead <command> --flag=value --flag value`, and separates flags from settings.
 * @throws UsageError for an unknown command, verb or flag, a missing value, and extra words
 */
export function parseArguments(argv: readonly string[]): ParsedArguments {
  const { tokens } = parseArgs({ args: [...argv], options, strict: false, tokens: true })
  const words = tokens.flatMap((token) => (token.kind === 'positional' ? [token.value] : []))
  // A command's own flag has precedence over a setting of the same name.
  const own = commandOf(words)?.flags ?? {}
  const flags: Record<string, string | boolean> = {}
  const settings: Record<string, string> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, value, inlineValue } = token
    const flag = knownFlags.get(name)
    // After a single dash, parseArgs takes each letter as a flag. The typed text is more useful than the first letter.
    const typed = (argv[token.index] as string).split('=')[0] as string
    if (!flag) throw unknownFlag(typed, commandOf(words))
    if (!takesValue(flag) && inlineValue) throw new UsageError(`--${name} does not accept a value`)
    if (takesValue(flag) && (value === undefined || (!inlineValue && value.startsWith('--'))))
      throw new UsageError(`--${name} requires a value: --${name}=…`)
    if (Object.hasOwn(ofSettings, name) && !Object.hasOwn(own, name)) settings[`--${name}`] = value as string
    else flags[name] = value ?? true
  }
  const { json, help, version, ...others } = flags
  const common = { json: json === true }
  if (version) return { command: named('version'), words: [], flags: common, settings }
  if (help || words.length === 0) return { command: named('help'), words, flags: { ...common, ...others }, settings }
  const command = commandOf(words) ?? noCommand(words)
  const rest = words.slice(command.name.split(' ').length)
  if (rest.length > 0 && !command.takesTopic)
    throw new UsageError(`"stead ${command.name}" does not accept ${rest[0]}. See: stead help ${command.name}`)
  return { command, words: rest, flags: { ...common, ...ownFlags(command, others) }, settings }
}

/** The words that begin an operator command. */
export const localWords: readonly string[] = [...new Set(commands.map(({ name }) => name.split(' ')[0] as string))]

export const isLocalWord = (word: string): boolean => localWords.includes(word)

export const isCommand = (word: string, verb: string | undefined): boolean =>
  commandOf(verb === undefined ? [word] : [word, verb]) !== undefined

/** Returns the command that the words begin with. */
function commandOf(words: readonly string[]): Command | undefined {
  const [noun = '', verb] = words
  const alone = named(noun)
  return named(`${noun} ${verb}`) ?? (verb !== undefined && Object.hasOwn(nouns, noun) ? undefined : alone)
}

function named(name: 'help' | 'version'): Command
function named(name: string): Command | undefined
function named(name: string): Command | undefined {
  return commands.find((command) => command.name === name)
}

function noCommand([noun = '', verb]: readonly string[]): never {
  if (!Object.hasOwn(nouns, noun)) {
    const near = closest(noun, [...new Set(commands.map(({ name }) => name.split(' ')[0] as string))])
    throw new UsageError(`Unknown command "${noun}". See: stead help`, near && `stead ${near}`)
  }
  const verbs = verbsOf(noun).map(([each]) => each)
  const near = verb && closest(verb, verbs)
  throw new UsageError(
    `"stead ${noun}" requires one of: ${verbs.join(', ')}. See: stead help ${noun}`,
    near && `stead ${noun} ${near}`,
  )
}

function unknownFlag(typed: string, command: Command | undefined): UsageError {
  const own = command ? [...Object.keys(command.flags), ...Object.keys(commonFlags)] : [...knownFlags.keys()]
  const candidates = [...new Set([...own, ...Object.keys(ofSettings)])].map((name) => `--${name}`)
  return new UsageError(
    `Unknown flag ${typed}. See: stead help, stead help settings`,
    closest(typed.replace(/^-*/, '--'), candidates),
  )
}

/**
 * Returns the command's flags with their values.
 * @param given flags without settings
 */
function ownFlags(command: Command, given: Readonly<Record<string, string | boolean>>): ParsedArguments['flags'] {
  const see = `See: stead help ${command.name}`
  for (const name of Object.keys(given))
    if (!Object.hasOwn(command.flags, name))
      throw new UsageError(
        `Unknown flag --${name} for "stead ${command.name}". ${see}`,
        closest(
          `--${name}`,
          Object.keys(command.flags).map((each) => `--${each}`),
        ),
      )
  return Object.fromEntries(
    Object.entries(command.flags).map(([name, flag]) => {
      if (!takesValue(flag)) return [name, given[name] === true]
      const value = given[name] as string | undefined
      if (flag.needed && !value) throw new UsageError(`--${name} is required. ${see}`)
      if (value !== undefined && flag.choices && !flag.choices.includes(value))
        throw new UsageError(
          `--${name} must be one of: ${flag.choices.join(', ')}. ${see}`,
          closest(value, flag.choices),
        )
      return [name, value]
    }),
  )
}
