import { OperatorError } from '../platform/operator-error.ts'

/** A command that cannot do its work. The message says what to do instead. */
export class CommandError extends OperatorError {
  override readonly name = 'CommandError'
}

/** The system calls that fail because of the disk, and not, for example, a connection. */
const ofDisk = new Set(['access', 'mkdir', 'open', 'write', 'fsync', 'link'])

/** Explains why a file or folder cannot be written. Returns other errors unchanged. */
export function diskError(path: string, error: unknown): unknown {
  const { syscall = '', message } = error as NodeJS.ErrnoException
  return ofDisk.has(syscall) ? new CommandError(`${path} cannot be written: ${message}`, { cause: error }) : error
}

/** Prints rows as JSON or as an aligned table with a heading. */
export function printRows(
  rows: readonly Record<string, unknown>[],
  asJson: boolean,
  out: { write(text: string): unknown } = process.stdout,
): void {
  const print = (line: string) => out.write(`${line}\n`)
  if (asJson) {
    print(JSON.stringify(rows, null, 2))
    return
  }
  const names = Object.keys(rows[0] ?? {})
  const lines = [names, ...rows.map((row) => names.map((name) => String(row[name] ?? '')))]
  const widths = names.map((_, column) => Math.max(...lines.map((line) => (line[column] as string).length)))
  for (const line of lines)
    print(
      line
        .map((cell, column) => cell.padEnd(widths[column] as number))
        .join('  ')
        .trimEnd(),
    )
  if (rows.length === 0) print('(none)')
}

/** Prints one object as JSON or as `name: value` lines. */
export function printOne(value: Record<string, unknown>, asJson: boolean): void {
  if (asJson) console.log(JSON.stringify(value, null, 2))
  else for (const [name, each] of Object.entries(value)) console.log(`${name}: ${String(each ?? '')}`)
}
