import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'

/** What is typed after a question on a terminal. @param isSecret it is not shown */
export async function ask(question: string, isSecret = false): Promise<string> {
  process.stderr.write(question)
  const output = isSecret ? new Writable({ write: (_chunk, _encoding, done) => done() }) : process.stderr
  const lines = createInterface({ input: process.stdin, output, terminal: true })
  try {
    return (await lines.question(isSecret ? '' : '')).trim()
  } finally {
    lines.close()
    if (isSecret) process.stderr.write('\n')
  }
}

/** All of standard input, for secrets and files that are piped in. */
export async function readInput(): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of process.stdin) pieces.push(piece as Buffer)
  return Buffer.concat(pieces).toString('utf8')
}
