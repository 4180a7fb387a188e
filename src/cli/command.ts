import { type Config, flagOf, type SettingKey, settings } from '../config.ts'

/** A flag of a command. One with neither `value` nor `choices` is a switch. */
export interface Flag {
  readonly help: string
  /** The placeholder of the value in the help. */
  readonly value?: string
  /** The only accepted values. */
  readonly choices?: readonly string[]
  readonly needed?: boolean
  /** A letter that can replace it, after a single dash. */
  readonly short?: string
}

type Flags = Readonly<Record<string, Flag>>

type FlagValue<Each extends Flag> = Each extends { value: string } | { choices: readonly string[] }
  ? Each extends { needed: true }
    ? string
    : string | undefined
  : boolean

type FlagValues<All extends Flags> = { readonly [Name in keyof All]: FlagValue<All[Name]> }

/** The parameters of a command's run. */
export interface Call<Values = unknown, Key extends SettingKey = never> {
  /** The command's own name, as in the list. */
  readonly command: string
  /** The words after the name, for a command that accepts some. */
  readonly words: readonly string[]
  readonly flags: Values & { readonly json: boolean }
  readonly config: Pick<Config, Key>
  /** The settings given as flags on the command line, for a process that needs the same. */
  readonly given: readonly string[]
  /** The variables of this process, for the same purpose. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/**
 * Does the work of a command.
 * @returns the exit code; nothing means 0, or that the process keeps running
 */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing
type Run<Values, Key extends SettingKey> = (call: Call<Values, Key>) => Promise<number | undefined | void>

/** A command of `stead`. */
export interface Command {
  /** One word, or a noun and a verb. */
  readonly name: string
  readonly about: string
  /** By name, without dashes. */
  readonly flags: Flags
  /** The settings that it reads. Without any, it works even if settings are invalid. */
  readonly settings: readonly SettingKey[]
  /** Whether it accepts words of its own: the name of a command, or `settings`. */
  readonly takesTopic: boolean
  /** Loads the code only when the command is run, so that each process of Stead has only what it needs in memory. */
  // biome-ignore lint/suspicious/noConfusingVoidType: as above
  readonly load: () => Promise<(call: never) => Promise<number | undefined | void>>
}

interface Given<All extends Flags, Key extends SettingKey> extends Partial<Pick<Command, 'takesTopic'>> {
  readonly name: string
  readonly about: string
  readonly flags?: All
  readonly settings?: readonly Key[]
  readonly load: () => Promise<Run<FlagValues<All>, Key>>
}

/**
 * Checks that a command's code uses only flags and settings that its entry names, each with the type that parsing gives
 * it.
 */
// biome-ignore lint/complexity/noBannedTypes: no flags at all
export function command<const All extends Flags = {}, const Key extends SettingKey = never>(
  given: Given<All, Key>,
): Command {
  const { name, about, flags = {}, settings = [], takesTopic = false, load } = given
  return { name, about, flags, settings, takesTopic, load }
}

export const takesValue = ({ value, choices }: Flag): boolean => value !== undefined || choices !== undefined

/** The names of all settings. */
export const allSettings = Object.keys(settings) as readonly SettingKey[]

/** Returns settings as flags, by name without dashes. */
export const settingFlags = (keys: readonly SettingKey[]): Readonly<Record<string, Flag>> =>
  Object.fromEntries(keys.map((key) => [flagOf(key).slice(2), { value: 'VALUE', help: settings[key].help }]))
