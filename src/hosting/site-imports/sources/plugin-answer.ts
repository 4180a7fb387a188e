import { OldSiteLost, OldSiteRefused } from './old-site.ts'

/** A line of an answer, with the bytes that it announces. */
export interface AnswerLine {
  readonly line: Readonly<Record<string, unknown>>
  readonly bytes: Buffer | undefined
}

const MARK = Buffer.from('stead-move 1\n')
/** The most bytes that other plugins may print before an answer. */
const MOST_JUNK_BYTES = 4096
const MOST_LINE_BYTES = 4 << 20
const MOST_PIECE_BYTES = 1 << 20

/**
 * Reads an answer of the plugin up to its last line, which it yields last.
 * @throws OldSiteRefused when the plugin did not send it, and OldSiteLost when it ends before its last line
 */
export async function* answerLines(body: AsyncIterable<Buffer>): AsyncGenerator<AnswerLine> {
  let held: Buffer = Buffer.alloc(0)
  let isBegun = false
  let waiting: { line: Readonly<Record<string, unknown>>; count: number } | undefined
  for await (const piece of body) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece])
    if (!isBegun) {
      const at = held.indexOf(MARK)
      if (at > MOST_JUNK_BYTES || (at < 0 && held.length > MOST_JUNK_BYTES + MARK.length)) throw noPlugin()
      if (at < 0) continue
      isBegun = true
      held = held.subarray(at + MARK.length)
    }
    for (;;) {
      if (waiting) {
        if (held.length < waiting.count) break
        yield { line: waiting.line, bytes: held.subarray(0, waiting.count) }
        held = held.subarray(waiting.count)
        waiting = undefined
      }
      const end = held.indexOf(10)
      if (end < 0 ? held.length > MOST_LINE_BYTES : end > MOST_LINE_BYTES) throw odd()
      if (end < 0) break
      const line = lineOf(held.subarray(0, end))
      held = held.subarray(end + 1)
      if (line.end === true) return yield { line, bytes: undefined }
      const { n } = line
      if (n === undefined) yield { line, bytes: undefined }
      else if (Number.isSafeInteger(n) && (n as number) > 0 && (n as number) <= MOST_PIECE_BYTES)
        waiting = { line, count: n as number }
      else throw odd()
    }
  }
  throw isBegun ? new OldSiteLost('The old site broke off its answer') : noPlugin()
}

const odd = () => new OldSiteRefused('The old site answers with what its plugin does not send')
const noPlugin = () =>
  new OldSiteRefused('The plugin does not answer on the old site. Install and activate it there, then retry')

function lineOf(text: Buffer): Readonly<Record<string, unknown>> {
  try {
    const line: unknown = JSON.parse(text.toString())
    if (typeof line === 'object' && line !== null && !Array.isArray(line)) return line as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw odd()
}
