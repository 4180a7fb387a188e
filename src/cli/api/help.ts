import type { Flag } from '../command.ts'
import { flagTable } from '../help.ts'
import { catalogue } from './catalogue.ts'
import { ownCommands } from './own-commands.ts'
import { shownFlag, type Usage, usageLine } from './parse-call.ts'
import { usageOf } from './run.ts'
import type { Terminal } from './show.ts'

interface Described extends Usage {
  readonly about: string
  readonly description: string
  /** `POST /v1/sites` */
  readonly calls: string | undefined
}

/** Every command for the API as help and completion show it. */
export function described(): readonly Described[] {
  const operations = catalogue().commands.map((command) => ({
    ...usageOf(command),
    ...{ about: command.about, description: command.description },
    calls: `${command.method.toUpperCase()} ${command.path}`,
  }))
  const own = ownCommands.map((command) => ({ ...command, description: '', calls: undefined }))
  return [...operations, ...own]
}

/** Flags of a command by name: fields of the operation first. */
export const flagsOf = ({ flags, own }: Usage): Readonly<Record<string, Flag>> => ({
  ...Object.fromEntries(flags.map((field) => [field.flag, shownFlag(field)])),
  ...own,
})

/** `stead help sites`, `stead help sites create`, `stead sites --help`. @returns the exit code */
export function printHelp(topic: string, out: Terminal): number {
  const found = described().filter(({ name }) => name === topic || name.startsWith(`${topic} `))
  out.write(`${found.length === 1 || found[0]?.name === topic ? textOf(found[0] as Described) : listOf(found)}\n`)
  return found.length > 0 ? 0 : 2
}

/** Every noun with what it is about, for `stead help`. */
export function nounRows(): [string, string][] {
  const names = described().map(({ name }) => name)
  const alone = ownCommands.filter(({ name }) => !name.includes(' '))
  const nouns = Object.entries(catalogue().nouns).filter(([noun]) => names.some((name) => name.startsWith(`${noun} `)))
  return [
    ...nouns.map(([noun, about]): [string, string] => [`stead ${noun}`, about]),
    ...alone.map(({ name, about }): [string, string] => [`stead ${name}`, about]),
  ]
}

function listOf(found: readonly Described[]): string {
  const rows = found.map((each): [string, string] => [usageLine(each), each.about])
  const width = Math.min(44, Math.max(...rows.map(([left]) => left.length)))
  const noun = found[0]?.name.split(' ')[0]
  return `${rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`).join('\n')}\n\nMore of one: stead help ${noun} VERB`
}

function textOf(command: Described): string {
  const { about, description, calls } = command
  const paragraphs = [
    `${usageLine(command)}\n  ${about}`,
    description,
    flagTable(flagsOf(command)),
    calls && `Calls ${calls}`,
  ]
  return paragraphs.filter(Boolean).join('\n\n')
}
