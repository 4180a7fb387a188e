import { type Config, ConfigError, flagOf, settings as knownSettings } from '../config.ts'
import { commandUsages, commonFlags, type FlagUsage } from './commands.ts'

/** A command line after parsing. */
export interface CommandCall {
  /** The first word: `serve`, `account`, … */
  readonly command: string
  /** The words after it: `create`, … */
  readonly words: readonly string[]
  /** Flags of the command itself, such as `--json`; a flag without value is `true`. */
  readonly flags: Readonly<Record<string, string | true>>
  readonly config: Config
}

/** A command line whose settings are still text. */
export interface ParsedArguments extends Omit<CommandCall, 'config'> {
  readonly settings: Readonly<Record<string, string>>
}

type Flags = Readonly<Record<string, FlagUsage>>

const settingFlags = new Set(Object.keys(knownSettings).map(flagOf))
const otherNames = new Map([
  ['-h', '--help'],
  ['--version', 'version'],
])
/** The flags of all commands together: one that takes a value does so everywhere. */
const knownFlags: Flags = Object.assign(
  { ...commonFlags },
  ...Object.values(commandUsages).flatMap(({ flags, verbs = {} }) => [
    flags,
    ...Object.values(verbs).map((verb) => verb.flags),
  ]),
)

/**
 * Splits `stead <command> <words> --flag=value --flag value`; flags that are settings come apart.
 * @throws ConfigError for a command, verb or flag that does not exist, and a value that lacks or is too many
 */
export function parseArguments(argv: readonly string[]): ParsedArguments {
  const rest = argv.map((argument) => otherNames.get(argument) ?? argument)
  const words: string[] = []
  const flags: Record<string, string | true> = {}
  const settings: Record<string, string> = {}
  while (rest.length > 0) {
    const argument = rest.shift() as string
    if (!argument.startsWith('-')) {
      words.push(argument)
      continue
    }
    const [name, inline] = splitOnce(argument)
    if (settingFlags.has(name)) settings[name] = argumentOf(name, inline, rest)
    else if (takesValue(name)) flags[name.slice(2)] = argumentOf(name, inline, rest)
    else if (inline === undefined) flags[name.slice(2)] = true
    else throw new ConfigError(`${name} takes no value`)
  }
  const [command = 'help', ...others] = words
  if (flags.help) return { command: 'help', words, flags, settings }
  check(command, others[0], flags)
  return { command, words: others, flags, settings }
}

function takesValue(name: string): boolean {
  const flag = Object.hasOwn(knownFlags, name) ? knownFlags[name] : undefined
  if (!flag) throw new ConfigError(`${name} is no flag of Stead. See: stead help, stead help settings`)
  return flag.value !== undefined
}

function argumentOf(name: string, inline: string | undefined, rest: string[]): string {
  if (inline !== undefined) return inline
  if (rest[0] === undefined || rest[0].startsWith('--')) throw new ConfigError(`${name} needs a value: ${name}=…`)
  return rest.shift() as string
}

/** What was asked for exists, and takes these flags. */
function check(command: string, verb: string | undefined, flags: Readonly<Record<string, unknown>>): void {
  if (!Object.hasOwn(commandUsages, command))
    throw new ConfigError(`${command} is no command of Stead. See: stead help`)
  const { verbs, flags: ownFlags, runsAlone } = commandUsages[command] as (typeof commandUsages)[string]
  const verbNames = Object.keys(verbs ?? {})
  if (verbs && !verbNames.includes(verb ?? '') && !(runsAlone && verb === undefined))
    throw new ConfigError(`stead ${command} needs one of: ${verbNames.join(', ')}. See: stead help ${command}`)
  const allowed = { ...commonFlags, ...ownFlags, ...verbs?.[verb ?? '']?.flags }
  for (const name of Object.keys(flags))
    if (!Object.hasOwn(allowed, `--${name}`))
      throw new ConfigError(
        `--${name} is no flag of stead ${command}${verbs ? ` ${verb}` : ''}. See: stead help ${command}`,
      )
}

function splitOnce(argument: string): [string, string | undefined] {
  const at = argument.indexOf('=')
  return at < 0 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)]
}
