import type { Flag } from '../command.ts'
import { flagRows } from '../help.ts'
import { catalogue } from './catalogue.ts'
import { ownCommands } from './own-commands.ts'
import { shownFlag, type Usage, usageLine } from './parse-call.ts'
import { usageOf } from './run.ts'
import type { Terminal } from './show.ts'

interface Described extends Usage {
  readonly about: string
  readonly description: string
  /** For example `POST /v1/sites`. */
  readonly calls: string | undefined
}

/** Returns every API command in the form that help and completion show. */
export function described(): readonly Described[] {
  const operations = catalogue().commands.map((command) => ({
    ...usageOf(command),
    ...{ about: command.about, description: command.description },
    calls: `${command.method.toUpperCase()} ${command.path}`,
  }))
  const own = ownCommands.map((command) => ({ ...command, description: '', calls: undefined }))
  return [...operations, ...own]
}

/** Returns the flags of a command by name, fields of the operation first. */
export const flagsOf = ({ flags, own }: Usage): Readonly<Record<string, Flag>> => ({
  ...Object.fromEntries(flags.map((field) => [field.flag, shownFlag(field)])),
  ...own,
})

/**
 * Prints the help: `stead help sites`, `stead help sites create`, `stead sites --help`.
 * @returns false when nothing has this name
 */
export function printHelp(topic: string, out: Terminal): boolean {
  const found = described().filter(({ name }) => name === topic || name.startsWith(`${topic} `))
  if (found.length === 0) return false
  out.write(
    `${found.length === 1 || found[0]?.name === topic ? textOf(found[0] as Described, out) : listOf(found, out)}\n`,
  )
  return true
}

/** Returns every noun with its description, for `stead help`. */
export function nounRows(): [string, string][] {
  const names = described().map(({ name }) => name)
  const alone = ownCommands.filter(({ name }) => !name.includes(' '))
  const nouns = Object.entries(catalogue().nouns).filter(([noun]) => names.some((name) => name.startsWith(`${noun} `)))
  return [
    ...nouns.map(([noun, about]): [string, string] => [`stead ${noun}`, about]),
    ...alone.map(({ name, about }): [string, string] => [`stead ${name}`, about]),
  ]
}

function listOf(found: readonly Described[], out: Terminal): string {
  const rows = found.map((each) => [usageLine(each), each.about] as const)
  const noun = found[0]?.name.split(' ')[0]
  return `${inColumns(rows, 44, out)}\n\nFor one command: stead help ${noun} VERB`
}

function textOf(command: Described, out: Terminal): string {
  const { about, description, calls } = command
  const flags = flagRows(flagsOf(command)).map(([left, right]) => [`  ${left}`, right] as const)
  const paragraphs = [
    `${usageLine(command)}\n  ${about}`,
    ...description.split('\n\n').map((text) => wrapped(text, columnsOf(out)).join('\n')),
    inColumns(flags, 30, out),
    calls && `Calls ${calls}`,
  ]
  return paragraphs.filter(Boolean).join('\n\n')
}

/** Returns the width. Outside a terminal, a line is as long as its text. */
const columnsOf = ({ isTTY, columns }: Terminal): number =>
  isTTY ? Math.max(60, columns || 80) : Number.POSITIVE_INFINITY

/** Puts the left text in its column, and the right text next to it, or below it where it does not fit. */
function inColumns(rows: readonly (readonly [string, string])[], most: number, out: Terminal): string {
  const width = Math.min(most, Math.max(...rows.map(([left]) => left.length)))
  const indent = ' '.repeat(width + 2)
  return rows
    .map(([left, right]) => {
      const text = wrapped(right, columnsOf(out) - indent.length).join(`\n${indent}`)
      if (text === '') return left
      return left.length > width ? `${left}\n${indent}${text}` : `${left.padEnd(width)}  ${text}`
    })
    .join('\n')
}

function wrapped(text: string, columns: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const line = lines.at(-1)
    if (line !== undefined && line.length + 1 + word.length <= columns) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
