import { HEAD_BYTES, readMessageHead } from './php-message.ts'

/** One entry in a piece of a log. */
export interface LogPiece {
  /** Its offset in the piece. */
  readonly offset: number
  /** The text without its head. */
  readonly text: string
  /** In milliseconds UTC, as the site says, or undefined if it does not. */
  readonly atMs: number | undefined
}

export interface Split {
  readonly pieces: readonly LogPiece[]
  /** The bytes that need not be read again. */
  readonly consumed: number
  /** Whether the piece ended inside an entry that is too long to wait for, so that the next bytes belong to it. */
  readonly inside: boolean
}

const NEWLINE = 10
const BRACKET = 91
/** The most bytes of an entry that are processed. */
const MOST_BYTES = 32 << 10

/**
 * Splits a piece of a PHP error log into entries. Each begins with its time at the start of a line, and extends to the
 * next.
 * @param options `inside`: the piece begins inside an entry that was given up; `whole`: nothing will be added to the
 * last entry
 */
export function splitLog(bytes: Buffer, options: { inside: boolean; whole: boolean }): Split {
  const starts: { offset: number; length: number; atMs: number | undefined }[] = []
  for (let at = 0; at < bytes.length; ) {
    if (bytes[at] === BRACKET) {
      const found = readMessageHead(bytes.toString('latin1', at, at + HEAD_BYTES))
      if (found) starts.push({ offset: at, ...found })
    }
    const end = bytes.indexOf(NEWLINE, at)
    if (end < 0) break
    at = end + 1
  }
  // Lines without a time: the end of an entry that was given up, or text that the site itself wrote there.
  if (!options.inside && starts[0]?.offset !== 0 && bytes.length > 0)
    starts.unshift({ offset: 0, length: 0, atMs: undefined })
  if (starts.length === 0) return { pieces: [], consumed: bytes.length, inside: true }
  const pieces: LogPiece[] = []
  for (const [index, { offset, length, atMs }] of starts.entries()) {
    const next = starts[index + 1]?.offset
    if (next === undefined && !options.whole && bytes.length - offset < MOST_BYTES)
      return { pieces, consumed: offset, inside: false }
    const end = Math.min(next ?? bytes.length, offset + length + MOST_BYTES)
    pieces.push({ offset, atMs, text: bytes.toString('utf8', offset + length, end) })
  }
  return { pieces, consumed: bytes.length, inside: !options.whole }
}
