import { freshLine } from './fresh-line.ts'
import { standardError } from './standard-output.ts'

/** Says something to whoever looks at standard error, on a line of its own. */
export function complain(text: string): void {
  standardError.write(`${freshLine(standardError)}${text}\n`)
}
