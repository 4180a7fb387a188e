import { HostError } from './host-error.ts'

/** Gets the parts of an answer, in order. */
export interface AnswerSink {
  /** @param raw names and values, flat, one character for each byte */
  head(status: number, reason: string, raw: string[]): void
  /**
   * @param piece has memory of its own, which nobody else writes to
   * @param isLast when it is known to be the last; otherwise `end` follows later
   */
  data(piece: Buffer, isLast: boolean): void
  /** @param isKept another request may follow on the connection */
  end(isKept: boolean): void
}

const MOST_HEAD_BYTES = 65_536
const MOST_LINE_BYTES = 1_024
const NOTHING = Buffer.alloc(0)
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/
const FIELD_LINE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)$/
const CHUNK_LINE = /^([0-9a-fA-F]{1,12})[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/

/**
 * Reads answers of hosts (RFC 9112), one at a time. Rejects anything that could be read in two ways: if edge and host
 * disagreed about where an answer ends, one visitor would get what another requested.
 *
 * Skips interim answers (100, 103), which nobody asked for.
 */
export class AnswerParser {
  readonly #sink: AnswerSink
  #state: 'idle' | 'head' | 'length' | 'chunk line' | 'chunk' | 'chunk end' | 'trailers' | 'until close' = 'idle'
  #isHead = false
  #isKept = false
  /** Bytes still to come, of the body or of the chunk. */
  #left = 0
  #trailerBytes = 0
  /** The start of an incomplete line. */
  #rest = NOTHING

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  /** Starts to read the answer to a request that was sent. */
  begin(method: string): void {
    this.#state = 'head'
    this.#isHead = method === 'HEAD'
  }

  /** @param bytes the caller reuses the buffer @throws HostError when they are not an answer */
  take(bytes: Buffer): void {
    let left = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : bytes
    this.#rest = NOTHING
    while (left.length > 0) {
      const used = this.#step(left)
      if (used === 0) {
        this.#rest = Buffer.from(left)
        return
      }
      left = left.subarray(used)
      if (this.#state !== 'idle') continue
      // Bytes beyond the answer belong to no known request.
      this.#sink.end(this.#isKept && left.length === 0)
      return
    }
  }

  /**
   * Called when the host has closed the connection and nothing is left to read. @returns whether that completed the
   * answer
   */
  close(): boolean {
    if (this.#state !== 'until close') return false
    this.#state = 'idle'
    this.#sink.end(false)
    return true
  }

  /** @returns how many bytes were used; 0 means that more have to arrive first */
  #step(bytes: Buffer): number {
    switch (this.#state) {
      case 'idle':
        throw malformed('an answer without a request')
      case 'head':
        return this.#readHead(bytes)
      case 'length':
      case 'chunk':
        return this.#readPiece(bytes)
      case 'chunk line':
        return this.#readLine(bytes, MOST_LINE_BYTES, (line) => this.#beginChunk(line))
      case 'chunk end':
        return this.#readLine(bytes, 0, () => {
          this.#state = 'chunk line'
        })
      case 'trailers':
        return this.#readLine(bytes, MOST_HEAD_BYTES, (line) => this.#passTrailer(line))
      default:
        this.#sink.data(Buffer.from(bytes), false)
        return bytes.length
    }
  }

  #readHead(bytes: Buffer): number {
    const end = bytes.indexOf('\r\n\r\n')
    if (end < 0 ? bytes.length > MOST_HEAD_BYTES : end > MOST_HEAD_BYTES) throw malformed('a head that is too long')
    if (end < 0) return 0
    const lines = bytes.toString('latin1', 0, end).split('\r\n')
    const first = STATUS_LINE.exec(lines[0] as string)
    if (!first) throw malformed('no status line')
    const status = Number(first[2])
    if (status === 101) throw malformed('another protocol')
    if (status >= 200) this.#begin(status, first[1] === '1', first[3] ?? '', fieldsOf(lines))
    return end + 4
  }

  #begin(status: number, isCurrent: boolean, reason: string, raw: string[]): void {
    const { length, isChunked, closes } = framingOf(raw)
    this.#isKept = isCurrent && !closes
    const hasNone = this.#isHead || status === 204 || status === 304
    if (hasNone) this.#state = 'idle'
    else if (isChunked) this.#state = 'chunk line'
    else if (length !== undefined) this.#state = length === 0 ? 'idle' : 'length'
    else this.#state = 'until close'
    this.#left = length ?? 0
    this.#trailerBytes = 0
    this.#sink.head(status, reason, raw)
  }

  #readPiece(bytes: Buffer): number {
    const used = Math.min(bytes.length, this.#left)
    this.#left -= used
    if (this.#left === 0) this.#state = this.#state === 'chunk' ? 'chunk end' : 'idle'
    this.#sink.data(Buffer.from(bytes.subarray(0, used)), this.#state === 'idle')
    return used
  }

  #readLine(bytes: Buffer, mostBytes: number, use: (line: string) => void): number {
    const end = bytes.indexOf('\r\n')
    if ((end < 0 ? bytes.length - 1 : end) > mostBytes) throw malformed('a line that is too long')
    if (end < 0) return 0
    use(bytes.toString('latin1', 0, end))
    return end + 2
  }

  #beginChunk(line: string): void {
    const size = CHUNK_LINE.exec(line)?.[1]
    if (size === undefined) throw malformed('no size of a chunk')
    this.#left = Number.parseInt(size, 16)
    this.#state = this.#left === 0 ? 'trailers' : 'chunk'
  }

  #passTrailer(line: string): void {
    this.#trailerBytes += line.length + 2
    if (this.#trailerBytes > MOST_HEAD_BYTES) throw malformed('trailers that are too long')
    if (line === '') this.#state = 'idle'
    else if (!FIELD_LINE.test(line)) throw malformed('no header')
  }
}

const malformed = (what: string): HostError => new HostError('HOST_MALFORMED', `the host has sent ${what}`)

function fieldsOf(lines: readonly string[]): string[] {
  const raw: string[] = []
  for (let i = 1; i < lines.length; i++) {
    const field = FIELD_LINE.exec(lines[i] as string)
    if (!field) throw malformed('no header')
    raw.push(field[1] as string, (field[2] as string).trimEnd())
  }
  return raw
}

/** Returns how the body of an answer ends, and whether the connection does. */
function framingOf(raw: readonly string[]) {
  let length: number | undefined
  let isChunked = false
  let isCoded = false
  let closes = false
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i] as string
    // By length first, because most headers match none of these.
    if (name.length === 14 && name.toLowerCase() === 'content-length') {
      const value = raw[i + 1] as string
      const given = /^\d{1,15}$/.test(value) ? Number(value) : undefined
      if (given === undefined || (length !== undefined && length !== given)) throw malformed('no length of its body')
      length = given
    } else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') {
      const coding = (raw[i + 1] as string).toLowerCase()
      if (isChunked || (coding !== 'chunked' && coding.includes('chunked'))) throw malformed('an unknown coding')
      if (coding === 'chunked') isChunked = true
      // Its end is unknown (RFC 9112 §6.3).
      else isCoded = true
    } else if (name.length === 10 && name.toLowerCase() === 'connection') {
      closes ||= /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(raw[i + 1] as string)
    }
  }
  if ((isChunked || isCoded) && length !== undefined) throw malformed('two lengths of its body')
  if (isChunked && isCoded) throw malformed('an unknown coding')
  return { length, isChunked, closes }
}
