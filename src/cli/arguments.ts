import { type Config, ConfigError, flagOf, settings as knownSettings } from '../config.ts'

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

const settingFlags = new Set(Object.keys(knownSettings).map(flagOf))
/** Flags of commands that take no value. */
const switches = new Set(['--json', '--owner', '--help'])

/** Splits `stead <command> <words> --flag=value --flag value`; flags that are settings come apart. */
export function parseArguments(
  argv: readonly string[],
): Omit<CommandCall, 'config'> & { settings: Record<string, string> } {
  const words: string[] = []
  const flags: Record<string, string | true> = {}
  const settings: Record<string, string> = {}
  for (let index = 0; index < argv.length; index++) {
    const argument = argv[index] as string
    if (!argument.startsWith('--')) {
      words.push(argument)
      continue
    }
    const [name, inline] = splitOnce(argument)
    if (switches.has(name)) flags[name.slice(2)] = true
    else {
      const value = inline ?? argv[++index]
      if (value === undefined) throw new ConfigError(`${name} needs a value`)
      if (settingFlags.has(name)) settings[name] = value
      else flags[name.slice(2)] = value
    }
  }
  const [command = 'help', ...rest] = words
  return flags.help ? { command: 'help', words, flags, settings } : { command, words: rest, flags, settings }
}

function splitOnce(argument: string): [string, string | undefined] {
  const at = argument.indexOf('=')
  return at < 0 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)]
}
