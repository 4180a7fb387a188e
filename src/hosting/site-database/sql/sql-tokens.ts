/**
 * Reads words of MySQL text from pieces of any size (MariaDB 10.11 and MySQL 8: manual, "Literal Values", "Comments").
 * It keeps only the current word: a value of 50 MB takes 50 MB, and a dump of 5 GB takes no more than that.
 */

/** A text that cannot be understood, with its place. */
export class UnreadableSql extends Error {
  override readonly name = 'UnreadableSql'
  /** The remedy: a sentence with its full stop. */
  readonly remedy: string | undefined

  constructor(message: string, remedy?: string) {
    super(message)
    this.remedy = remedy
  }

  /** Returns the fault and its place, then the remedy. */
  get full(): string {
    return this.remedy === undefined ? this.message : `${this.message}. ${this.remedy}`
  }
}

export type Token =
  /** A keyword, or a name without quotes. */
  | { readonly kind: 'word'; readonly text: string }
  /** In backticks. */
  | { readonly kind: 'name'; readonly text: string }
  /** In quotes; empty when values are not kept. */
  | { readonly kind: 'string'; readonly bytes: Uint8Array; readonly isDouble?: true }
  | { readonly kind: 'number'; readonly text: string }
  /** `0x1F`, `x'1F'`, `b'101'`. */
  | { readonly kind: 'bits'; readonly bytes: Uint8Array }
  | { readonly kind: 'mark'; readonly text: string }

export interface TokensOptions {
  /** Default true. With false, contents of strings are skipped, for callers that only check the syntax. */
  readonly keepsValues?: boolean
}

/** The most bytes of a value. Larger ones are an attack, or the file is not a dump. */
export const MOST_VALUE_BYTES = 256 << 20
const MOST_DELIMITER = 16
const MOST_NESTED = 8
const MOST_LINE = 1 << 12
/** The number of comments at the beginning that are kept, because a program names itself there. */
const MOST_HEAD = 40
/** The most bytes to read before it is certain that a text is not a program's message. */
const NOISE_BYTES = 300
/** Messages on standard error that a redirection has written into the file. */
const NOISE =
  /^(?:\S*(?:mysqldump|mariadb-dump|mysqlpump|mysql|mariadb)(?:\.exe)?: |(?:\w+: )?\[(?:Warning|Note)\] |(?:PHP )?(?:Warning|Notice|Deprecated): |Enter password: )/i
const DELIMITER = /^delimiter[ \t]+/i
/** The length limit of words without quotes, numbers, and names. */
const MOST_WORD_BYTES = 1 << 16
/** The version in a comment that no server executes (MariaDB's `/*!999999\- enable the sandbox mode`). */
const NO_VERSION = 999_999
/** The version of the comments for what only MySQL needs. MySQL 8 reads them. MariaDB and Stead skip them. */
export const MYSQL_ALONE = 80_002

const QUOTE = 0x27
const DOUBLE_QUOTE = 0x22
const BACKTICK = 0x60
const BACKSLASH = 0x5c
const NEWLINE = 0x0a
const EMPTY = Buffer.alloc(0)

const isSpace = (byte: number): boolean => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)
const isDigit = (byte: number): boolean => byte >= 0x30 && byte <= 0x39
const isWordByte = (byte: number): boolean =>
  isDigit(byte) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x5f ||
  byte === 0x24 ||
  byte === 0x40 ||
  byte >= 0x80

interface OpenString {
  readonly quote: number
  scanned: number
  hasEscapes: boolean
}

export class SqlTokens {
  readonly #keepsValues: boolean
  #bytes: Buffer = EMPTY
  #at = 0
  #end = 0
  /** The number of bytes before `#bytes`. */
  #before = 0
  #lines = 0
  #isEnded = false
  /** The nesting depth of comments that are executed: `/*!40101 SET …`. */
  #inExecutable = 0
  /** A string or a skipped comment whose end has not arrived yet. Kept so that no byte is scanned twice. */
  #open: OpenString | undefined
  #openComment = false
  /** How much of a word, a number, or bits has been scanned, for the same reason. */
  #scanned = 0
  /** The last comment, while nothing has followed it. */
  #lastComment = ''
  #hasWords = false
  #isStatement = false
  #delimiter = ''
  /** The comments before the first word, in which a program names itself. */
  readonly head: string[] = []
  /** Program messages between statements. */
  readonly noise: string[] = []
  /** False with NO_BACKSLASH_ESCAPES. */
  hasBackslashes = true
  /** Whether names are in double quotes (ANSI_QUOTES). */
  hasAnsiQuotes = false
  /**
   * Tests the first byte of two-byte characters, whose second byte may look like a backslash; undefined without such
   * characters.
   */
  leads: ((byte: number) => boolean) | undefined

  constructor({ keepsValues = true }: TokensOptions = {}) {
    this.#keepsValues = keepsValues
  }

  /** Returns the last thing read, if it is a comment, without its delimiters. */
  get lastComment(): string {
    return this.#lastComment
  }

  /** Marks the next word as the first of a statement, where program messages and DELIMITER may appear. */
  beginStatement(): void {
    this.#isStatement = true
  }

  /** Returns the current place, in words. */
  get place(): string {
    return `line ${this.#lines + 1}, byte ${this.#before + this.#at}`
  }

  write(chunk: Uint8Array): void {
    const rest = this.#end - this.#at
    if (this.#end + chunk.length > this.#bytes.length) {
      const roomy = Buffer.allocUnsafe(Math.max(1 << 16, (rest + chunk.length) * (rest > 1 << 16 ? 2 : 1)))
      this.#bytes.copy(roomy, 0, this.#at, this.#end)
      this.#bytes = roomy
      this.#moveBy(this.#at)
    }
    this.#bytes.set(chunk, this.#end)
    this.#end += chunk.length
  }

  /** Ends the text. */
  finish(): void {
    this.#isEnded = true
  }

  /** @returns undefined when more is needed, or after `finish`, at the end. @throws UnreadableSql */
  next(): Token | undefined {
    if (this.#open) return this.#string()
    if (!this.#skip()) return undefined
    while (this.#isStatement) {
      const skipped = this.#skipLineOfClient()
      if (skipped === undefined) return undefined
      if (!skipped) break
      if (!this.#skip()) return undefined
    }
    this.#begin()
    if (this.#delimiter !== '') {
      const isThere = this.#isDelimiter(this.#at)
      if (isThere === undefined) return undefined
      if (isThere) {
        this.#at += this.#delimiter.length
        return { kind: 'mark', text: ';' }
      }
    }
    const byte = this.#bytes[this.#at] as number
    if (byte === QUOTE || byte === DOUBLE_QUOTE || byte === BACKTICK) {
      this.#open = { quote: byte, scanned: this.#at + 1, hasEscapes: false }
      return this.#string()
    }
    if (isWordByte(byte) || ((byte === 0x2d || byte === 0x2e || byte === 0x2b) && this.#beginsNumber()))
      return this.#wordOrNumber()
    if ((byte === 0x2d || byte === 0x2e || byte === 0x2b) && this.#end - this.#at < 2 && !this.#isEnded)
      return undefined
    this.#at++
    // With another delimiter, a semicolon does not end a statement.
    const text = byte === 0x3b && this.#delimiter !== '' ? ';;' : String.fromCharCode(byte)
    return { kind: 'mark', text }
  }

  fail(what: string, remedy?: string): UnreadableSql {
    return new UnreadableSql(`${what} at ${this.place}`, remedy)
  }

  /** @returns undefined when more is needed to decide */
  #isDelimiter(at: number): boolean | undefined {
    const { length } = this.#delimiter
    const there = this.#bytes.toString('latin1', at, Math.min(at + length, this.#end))
    if (there.length < length && !this.#isEnded && this.#delimiter.startsWith(there)) return undefined
    return there === this.#delimiter
  }

  /** Returns the rest of the line, or undefined when it has not arrived. */
  #line(most: number): string | undefined {
    const found = this.#bytes.subarray(this.#at, Math.min(this.#end, this.#at + most)).indexOf(NEWLINE)
    if (found < 0 && !(this.#isEnded && this.#end - this.#at <= most)) return undefined
    return this.#bytes.toString('latin1', this.#at, found < 0 ? this.#end : this.#at + found)
  }

  /**
   * Skips program messages, and DELIMITER, which is for clients.
   * @returns whether there was one; undefined when more is needed to decide
   */
  #skipLineOfClient(): boolean | undefined {
    const start = this.#bytes.toString('latin1', this.#at, Math.min(this.#end, this.#at + NOISE_BYTES))
    const isOfClient = NOISE.test(start) || DELIMITER.test(start)
    if (!isOfClient) return start.length >= NOISE_BYTES || start.includes('\n') || this.#isEnded ? false : undefined
    const line = this.#line(MOST_LINE)
    if (line === undefined) {
      if (this.#end - this.#at >= MOST_LINE) throw this.fail('A line has no end')
      return undefined
    }
    if (DELIMITER.test(line)) {
      const delimiter = line.replace(DELIMITER, '').trim().split(/\s/)[0] as string
      if (delimiter === '' || delimiter.length > MOST_DELIMITER) throw this.fail('DELIMITER says no delimiter')
      this.#delimiter = delimiter === ';' ? '' : delimiter
      this.#hasWords = true
      this.#lastComment = ''
    } else if (this.noise.length < MOST_HEAD) this.noise.push(line.trim().slice(0, NOISE_BYTES))
    this.#at += line.length
    return true
  }

  #moveBy(bytes: number): void {
    this.#before += bytes
    this.#at -= bytes
    this.#end -= bytes
    if (this.#open) this.#open.scanned -= bytes
  }

  /** Skips whitespace and comments. @returns whether a word begins here */
  #skip(): boolean {
    for (;;) {
      if (this.#openComment && !this.#skipToCommentEnd()) return false
      this.#skipSpace()
      const left = this.#end - this.#at
      if (left === 0) return this.#atEnd()
      const byte = this.#bytes[this.#at]
      const isShort = left < 3 && !this.#isEnded
      if (byte === 0x23) {
        if (!this.#skipLine(1)) return false
      } else if (byte === 0x2d) {
        if (isShort) return false
        const third = this.#bytes[this.#at + 2] ?? NEWLINE
        if (this.#bytes[this.#at + 1] !== 0x2d || (left > 2 && !isSpace(third))) return true
        if (!this.#skipLine(2)) return false
      } else if (byte === 0x2f) {
        if (isShort) return false
        if (this.#bytes[this.#at + 1] !== 0x2a) return true
        if (!this.#beginComment()) return false
      } else if (byte === 0x2a && this.#inExecutable > 0) {
        if (left < 2 && !this.#isEnded) return false
        if (this.#bytes[this.#at + 1] !== 0x2f) return true
        this.#at += 2
        this.#inExecutable--
      } else return true
    }
  }

  #begin(): void {
    this.#lastComment = ''
    this.#hasWords = true
    this.#isStatement = false
  }

  #comment(text: string): void {
    this.#lastComment = text.trim()
    if (!this.#hasWords && this.head.length < MOST_HEAD) this.head.push(this.#lastComment)
  }

  #atEnd(): false {
    if (this.#isEnded && (this.#inExecutable > 0 || this.#openComment)) throw this.fail('It ends inside a comment')
    return false
  }

  #skipSpace(): void {
    for (; this.#at < this.#end; this.#at++) {
      const byte = this.#bytes[this.#at] as number
      if (!isSpace(byte)) return
      if (byte === NEWLINE) this.#lines++
    }
  }

  #skipLine(dashes: number): boolean {
    const found = this.#indexOf(NEWLINE, this.#at)
    if (found < 0 && !this.#isEnded) {
      if (this.#end - this.#at > MOST_WORD_BYTES) throw this.fail('A comment has no end')
      return false
    }
    const end = found < 0 ? this.#end : found
    this.#comment(this.#bytes.toString('latin1', this.#at + dashes, Math.min(end, this.#at + 200)))
    this.#at = end
    return true
  }

  /** Skips a comment, or enters it if its contents are executed. */
  #beginComment(): boolean {
    if (!this.#isEnded && this.#end - this.#at < 12) return false
    const head = /^\/\*(?:!|M!)(\d*)/.exec(this.#bytes.toString('latin1', this.#at, Math.min(this.#end, this.#at + 12)))
    if (!head || Number(head[1]) >= NO_VERSION || Number(head[1]) === MYSQL_ALONE) {
      if (!head) {
        // Comments matter only at the beginning and the end, and their first bytes are enough.
        if (!this.#isEnded && this.#end - this.#at < 200 && this.#bytes.subarray(this.#at, this.#end).indexOf('*/') < 0)
          return false
        const [said] = this.#bytes.toString('latin1', this.#at + 2, Math.min(this.#end, this.#at + 200)).split('*/')
        this.#comment(said as string)
      }
      this.#at += 2
      this.#openComment = true
      return true
    }
    if (this.#inExecutable >= MOST_NESTED) throw this.fail('A comment contains a comment')
    this.#at += head[0].length
    this.#inExecutable++
    return true
  }

  #skipToCommentEnd(): boolean {
    for (;;) {
      const star = this.#indexOf(0x2a, this.#at)
      this.#countLines(this.#at, star < 0 ? this.#end : star)
      if (star < 0 || star + 1 >= this.#end) {
        this.#at = star < 0 ? this.#end : star
        return this.#atEnd()
      }
      this.#at = star + 1
      if (this.#bytes[this.#at] !== 0x2f) continue
      this.#at++
      this.#openComment = false
      return true
    }
  }

  #countLines(from: number, to: number): void {
    for (let at = from; at < to; at++) if (this.#bytes[at] === NEWLINE) this.#lines++
  }

  /** Returns the next index of a byte. Bytes after `#end` are left over from earlier. */
  #indexOf(byte: number, from: number): number {
    const found = this.#bytes.subarray(from, this.#end).indexOf(byte)
    return found < 0 ? -1 : from + found
  }

  #beginsNumber(): boolean {
    const second = this.#bytes[this.#at + 1]
    if (this.#at + 1 >= this.#end || second === undefined) return false
    return isDigit(second) || (second === 0x2e && this.#bytes[this.#at] !== 0x2e)
  }

  #wordOrNumber(): Token | undefined {
    const bytes = this.#bytes
    const start = this.#at
    if (this.#isQuotedBits(start)) return this.#quotedBits(start)
    const first = bytes[start] as number
    const isNumber = isDigit(first) || first === 0x2d || first === 0x2e || first === 0x2b
    let at = start + Math.max(1, this.#scanned)
    for (; at < this.#end; at++) {
      const byte = bytes[at] as number
      if (this.#delimiter !== '' && at > start) {
        const isThere = this.#isDelimiter(at)
        if (isThere === undefined) return undefined
        if (isThere) break
      }
      if (isWordByte(byte)) continue
      if (!isNumber) break
      const before = (bytes[at - 1] as number) | 0x20
      const isExponentSign = (byte === 0x2d || byte === 0x2b) && before === 0x65 && bytes[start + 1] !== 0x78
      if (byte !== 0x2e && !isExponentSign) break
    }
    if (at === this.#end && !this.#isEnded) {
      if (at - start > MOST_WORD_BYTES && !this.#isHex(start)) throw this.fail('A word has no end')
      this.#scanned = at - start
      return undefined
    }
    this.#at = at
    this.#scanned = 0
    if (isNumber && this.#isHex(start))
      return { kind: 'bits', bytes: this.#keepsValues ? fromHex(bytes.toString('latin1', start + 2, at)) : EMPTY }
    const text = bytes.toString('utf8', start, at)
    if (isNumber && /^0b[01]+$/.test(text)) return { kind: 'bits', bytes: fromBits(text.slice(2)) }
    if (!isNumber) return { kind: 'word', text }
    if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(text)) return { kind: 'number', text }
    // Names may begin with digits.
    if (/^\d+[A-Za-z_$\u0080-\uffff]/.test(text)) return { kind: 'word', text }
    throw this.fail(`${text.slice(0, 40)} is not a number,`)
  }

  #isHex(start: number): boolean {
    return this.#bytes[start] === 0x30 && this.#bytes[start + 1] === 0x78
  }

  /** Returns whether x'1F' or b'101' starts here: the quote follows at once. */
  #isQuotedBits(start: number): boolean {
    const kind = (this.#bytes[start] as number) | 0x20
    return start + 1 < this.#end && this.#bytes[start + 1] === QUOTE && (kind === 0x78 || kind === 0x62)
  }

  #quotedBits(start: number): Token | undefined {
    const end = this.#indexOf(QUOTE, start + Math.max(2, this.#scanned))
    if (end < 0) {
      if (this.#isEnded) throw this.fail('It ends inside a value')
      this.#scanned = this.#end - start
      return undefined
    }
    const text = this.#bytes.toString('latin1', start + 2, end)
    const isHex = ((this.#bytes[start] as number) | 0x20) === 0x78
    if (!(isHex ? /^[0-9a-f]*$/i : /^[01]*$/).test(text) || (isHex && text.length % 2 === 1))
      throw this.fail('A value has other digits than it may have')
    this.#at = end + 1
    this.#scanned = 0
    if (!this.#keepsValues) return { kind: 'bits', bytes: EMPTY }
    return { kind: 'bits', bytes: isHex ? Buffer.from(text, 'hex') : fromBits(text) }
  }

  #string(): Token | undefined {
    const open = this.#open as OpenString
    const { quote } = open
    const hasBackslashes = this.hasBackslashes && quote !== BACKTICK
    const { leads } = this
    const bytes = this.#bytes
    const end = this.#end
    for (let at = open.scanned; at < end; at++) {
      const byte = bytes[at] as number
      const isEscape = byte === BACKSLASH && hasBackslashes
      if (!isEscape && byte !== quote) {
        if (leads?.(byte)) {
          if (at + 1 >= end) return this.#needMore(open, at)
          at++
        }
        continue
      }
      // The next byte decides: it is the escaped byte, or doubles the quote.
      if (at + 1 >= end && !(byte === quote && this.#isEnded)) return this.#needMore(open, at)
      if (byte === quote && bytes[at + 1] !== quote) return this.#closeString(open, at)
      if (at + 1 >= end) return this.#closeString(open, at)
      open.hasEscapes = true
      at++
    }
    return this.#needMore(open, end)
  }

  #needMore(open: OpenString, scanned: number): undefined {
    if (this.#isEnded) throw this.fail('It ends inside quotes')
    open.scanned = Math.min(scanned, this.#end)
    if (open.quote === BACKTICK && this.#end - this.#at > MOST_WORD_BYTES) throw this.fail('A name has no end')
    if (this.#end - this.#at > MOST_VALUE_BYTES)
      throw this.fail(
        `A value has more than ${MOST_VALUE_BYTES >> 20} MB`,
        'Remove the value, and export the database again.',
      )
    if (this.#keepsValues || open.quote === BACKTICK) return undefined
    // The value is not needed, so it is dropped as it arrives.
    this.#countLines(this.#at, open.scanned)
    this.#at = open.scanned
    return undefined
  }

  #closeString({ quote, hasEscapes }: OpenString, end: number): Token {
    const start = this.#at + 1
    const isKept = this.#keepsValues || quote === BACKTICK || (quote === DOUBLE_QUOTE && end - start < MOST_WORD_BYTES)
    const bytes = isKept ? Buffer.from(this.#bytes.subarray(start, end)) : EMPTY
    this.#countLines(this.#at, end)
    this.#at = end + 1
    this.#open = undefined
    const plain = hasEscapes && isKept ? this.#unescaped(bytes, quote) : bytes
    if (quote === BACKTICK) return { kind: 'name', text: plain.toString('utf8') }
    if (quote === QUOTE) return { kind: 'string', bytes: plain }
    if (this.hasAnsiQuotes && isKept) return { kind: 'name', text: plain.toString('utf8') }
    return { kind: 'string', bytes: plain, isDouble: true }
  }

  /** Removes the escapes, in place. */
  #unescaped(bytes: Buffer, quote: number): Buffer {
    const hasBackslashes = this.hasBackslashes && quote !== BACKTICK
    const { leads } = this
    let to = 0
    for (let from = 0; from < bytes.length; from++) {
      const byte = bytes[from] as number
      if (byte === BACKSLASH && hasBackslashes) {
        const next = bytes[++from] as number
        if (next === 0x25 || next === 0x5f) bytes[to++] = BACKSLASH
        bytes[to++] = ESCAPES.get(next) ?? next
      } else {
        if (byte === quote) from++
        bytes[to++] = byte
        if (leads?.(byte) && from + 1 < bytes.length) bytes[to++] = bytes[++from] as number
      }
    }
    return bytes.subarray(0, to)
  }
}

/** MySQL 8 manual, "String Literals", table "Special Character Escape Sequences". `\%` and `\_` stay unchanged. */
const ESCAPES = new Map([
  [0x30, 0x00],
  [0x62, 0x08],
  [0x6e, 0x0a],
  [0x72, 0x0d],
  [0x74, 0x09],
  [0x5a, 0x1a],
])

const fromHex = (digits: string): Buffer => Buffer.from(digits.length % 2 === 1 ? `0${digits}` : digits, 'hex')

function fromBits(digits: string): Buffer {
  if (digits.length > MOST_WORD_BYTES) throw new UnreadableSql('A value has too many bits')
  const bytes = Buffer.alloc(Math.ceil(digits.length / 8))
  const padded = digits.padStart(bytes.length * 8, '0')
  for (let at = 0; at < bytes.length; at++) bytes[at] = Number.parseInt(padded.slice(at * 8, at * 8 + 8), 2)
  return bytes
}
