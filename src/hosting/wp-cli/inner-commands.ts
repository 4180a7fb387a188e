import { Readable, Writable } from 'node:stream'
import Type from 'typebox'
import { Value } from 'typebox/value'
import type { CommandIo, Ended } from './command-io.ts'

/** The question of the command's `proc_open` (`tasks/command.php`) to start WP-CLI. */
const Question = Type.Object({
  ask: Type.Literal('command'),
  /** Base64 of the words after `wp`, separated by zero bytes. */
  words: Type.String({ maxLength: 1 << 18 }),
  /** Whether its output goes to the output of the outer command. Otherwise the answer contains it. */
  shows: Type.Boolean(),
  /** Base64 of its standard input; omitted for none. */
  input: Type.Optional(Type.String({ maxLength: 1 << 18 })),
})
const START = '{"ask":"command"'
/** The limit for an answer's output, and for its errors, because an answer is one frame. */
const MOST_BYTES = 300 << 10
const FAILED = 1

/**
 * The commands that one command starts, one after the other. Each runs as if its user had entered it, with the
 * question's input. It has the same permissions as the command itself.
 */
export class InnerCommands {
  wrote = false
  readonly #run: (words: readonly string[], io: CommandIo) => Promise<Ended>
  readonly #stop = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  constructor(run: (words: readonly string[], io: CommandIo) => Promise<Ended>) {
    this.#run = run
  }

  /** @returns undefined for another question */
  answer(text: string, outer: CommandIo): Promise<string> | undefined {
    if (!text.startsWith(START)) return undefined
    const answer = this.#answer(text, outer)
    this.#running.add(answer)
    const forget = () => this.#running.delete(answer)
    answer.then(forget, forget)
    return answer
  }

  /** Resolves when none of them is running. */
  async end(): Promise<void> {
    this.#stop.abort(new Error('the command that started it has ended'))
    await Promise.allSettled(this.#running)
  }

  async #answer(text: string, outer: CommandIo): Promise<string> {
    const question: unknown = JSON.parse(text)
    if (!Value.Check(Question, question)) return ''
    const bytes = Buffer.from(question.words, 'base64')
    const words = bytes.length === 0 ? [] : bytes.toString().split('\0')
    const [output, errors] = [kept(), kept()]
    const read = question.input ? [Buffer.from(question.input, 'base64')] : []
    const signal = AbortSignal.any([outer.signal, this.#stop.signal])
    const streams = question.shows ? outer : { output: output.stream, errors: errors.stream }
    const io = { ...outer, ...streams, input: Readable.from(read), signal }
    const { code, wrote } = await this.#run(words, io)
    this.wrote ||= wrote
    const isWhole = output.isWhole() && errors.isWhole()
    return JSON.stringify({ code: isWhole ? code : code || FAILED, output: output.text(), errors: errors.text() })
  }
}

/** Keeps the beginning of what is written. */
function kept() {
  const pieces: Buffer[] = []
  let [length, isWhole] = [0, true]
  const stream = new Writable({
    write(piece: Buffer, _encoding, done) {
      const fits = piece.subarray(0, MOST_BYTES - length)
      pieces.push(fits)
      length += fits.length
      isWhole &&= fits.length === piece.length
      done()
    },
  })
  return { stream, isWhole: () => isWhole, text: () => Buffer.concat(pieces).toString('base64') }
}
