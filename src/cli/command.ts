import { type Config, flagOf, type SettingKey, settings } from '../config.ts'

/** A flag of a command. One with neither `value` nor `choices` is a switch. */
export interface Flag {
  readonly help: string
  /** What stands for the value in the help. */
  readonly value?: string
  /** The only values that are taken. */
  readonly choices?: readonly string[]
  readonly needed?: boolean
  /** One letter that stands for it after a single dash. */
  readonly short?: string
}

type Flags = Readonly<Record<string, Flag>>

type FlagValue<Each extends Flag> = Each extends { value: string } | { choices: readonly string[] }
  ? Each extends { needed: true }
    ? string
    : string | undefined
  : boolean

type FlagValues<All extends Flags> = { readonly [Name in keyof All]: FlagValue<All[Name]> }

/** What a command is run with. */
export interface Call<Values = unknown, Key extends SettingKey = never> {
  /** Its own name, as in the list. */
  readonly command: string
  /** Words after the name, for a command that takes some. */
  readonly words: readonly string[]
  readonly flags: Values & { readonly json: boolean }
  readonly config: Pick<Config, Key>
  /** The settings that the command line gave, as flags: for a process that is to have the same. */
  readonly given: readonly string[]
  /** Variables of this process, for the same. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** Does the work of a command. @returns the exit code; nothing: 0, or the process goes on */
// biome-ignore lint/suspicious/noConfusingVoidType: most commands return nothing
type Run<Values, Key extends SettingKey> = (call: Call<Values, Key>) => Promise<number | undefined | void>

/** One thing that can be asked of Stead. */
export interface Command {
  /** One word, or a noun and a verb. */
  readonly name: string
  readonly about: string
  /** By name, without dashes. */
  readonly flags: Flags
  /** The settings it reads. None: it works where settings are wrong. */
  readonly settings: readonly SettingKey[]
  /** It takes words of its own: the name of a command, or `settings`. */
  readonly takesTopic: boolean
  /** The code is loaded when the command is run, and not before: each process of Stead has what it needs in memory. */
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

/** Checks that a command's code asks for flags and settings that its entry names, each with the type that parsing gives it. */
// biome-ignore lint/complexity/noBannedTypes: no flags at all
export function command<const All extends Flags = {}, const Key extends SettingKey = never>(
  given: Given<All, Key>,
): Command {
  const { name, about, flags = {}, settings = [], takesTopic = false, load } = given
  return { name, about, flags, settings, takesTopic, load }
}

export const takesValue = ({ value, choices }: Flag): boolean => value !== undefined || choices !== undefined

/** Every setting there is. */
export const allSettings = Object.keys(settings) as readonly SettingKey[]

/** Settings as flags, by name without dashes. */
export const settingFlags = (keys: readonly SettingKey[]): Readonly<Record<string, Flag>> =>
  Object.fromEntries(keys.map((key) => [flagOf(key).slice(2), { value: 'VALUE', help: settings[key].help }]))
