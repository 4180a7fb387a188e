import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { CommandError } from '../output.ts'

export interface AskOptions {
  /** Whether the typed text is hidden. */
  readonly isSecret?: boolean
  readonly input?: NodeJS.ReadableStream
  readonly output?: NodeJS.WritableStream
}

/**
 * Returns the text that a person types after a question on a terminal.
 * @throws CommandError when they leave instead: Ctrl-C, Ctrl-D
 */
export async function ask(
  question: string,
  { isSecret = false, input = process.stdin, output = process.stderr }: AskOptions = {},
): Promise<string> {
  if (isSecret) output.write(question)
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input, output: isSecret ? silence : output, terminal: true })
  try {
    const left = new Promise<never>((_, reject) =>
      lines.once('close', () => reject(new CommandError('Nothing was changed.'))),
    )
    const answered = lines.question(isSecret ? '' : question)
    answered.catch(() => {})
    return (await Promise.race([answered.catch(() => left), left])).trim()
  } finally {
    lines.close()
    if (isSecret) output.write('\n')
  }
}

/** Reads all of standard input, for secrets that are piped in. */
export async function readInput(): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}
