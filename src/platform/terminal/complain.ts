import { freshLine } from './fresh-line.ts'
import { standardError } from './standard-output.ts'

/** Prints a message to standard error, on a separate line. */
export function complain(text: string): void {
  standardError.write(`${freshLine(standardError)}${text}\n`)
}
