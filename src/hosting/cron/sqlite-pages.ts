/**
 * Reads rows from an SQLite file without SQLite. A site's PHP may be hostile and writes its database file as it likes,
 * and the host process may be root. SQLite in this process would be C code reading a hostile file. In addition,
 * node:sqlite can neither interrupt nor limit a query: a view instead of a table, or a tree whose pages all point to
 * one page, would keep the whole host busy forever. SQLite would also take locks, which the site's PHP does not see.
 * Stead needs little: find a table, iterate over its rows, and read one text. This module does that in memory-safe code
 * with a budget, and throws on everything unusual. Section numbers below refer to the format:
 * https://sqlite.org/fileformat2.html
 */
import { UnreadableDatabase } from './event-source.ts'

/** Reads up to `length` bytes from `position`. Returns fewer at the end of the file. */
export type ReadAt = (position: number, length: number) => Promise<Buffer>

/** The most bytes that one check may read. An options table with thousands of rows takes one or two million. */
const MOST_BYTES = 32 << 20
const MOST_CELLS = 50_000
const MOST_DEPTH = 20
/** Columns read of each row. A crafted row has tens of thousands. */
const MOST_COLUMNS = 11
const MOST_NAME_BYTES = 200
/** Small files are read in large pieces, because a system call costs more than the bytes that it reads. */
const SMALL_FILE_BYTES = 4 << 20
const PIECE_BYTES = 1 << 16

const interiorTable = 0x05
const leafTable = 0x0d

/** A row as it is stored in its leaf page. */
export interface LeafRow {
  readonly id: number
  /** Returns the column as text, or undefined when it is not text, is long, or continues on another page. */
  text(column: number): string | undefined
  integer(column: number): number | undefined
  /**
   * Returns the column's text, however long.
   * @throws UnreadableDatabase when it is not text, or longer than `mostBytes`
   */
  longText(column: number, mostBytes: number): Promise<Buffer>
}

/** Reads one file once. */
export class SqlitePages {
  readonly #readAt: ReadAt
  readonly #pieceBytes: number
  readonly #pageBytes: number
  /** Bytes of a page that SQLite uses (1.3.4). */
  readonly #usable: number
  readonly #pieces = new Map<number, Promise<Buffer>>()
  #bytesLeft = MOST_BYTES
  #cellsLeft = MOST_CELLS

  private constructor(readAt: ReadAt, sizeBytes: number, header: Buffer) {
    const stored = header.readUInt16BE(16)
    this.#pageBytes = stored === 1 ? 65_536 : stored
    this.#usable = this.#pageBytes - (header[20] as number)
    this.#readAt = readAt
    this.#pieceBytes = sizeBytes <= SMALL_FILE_BYTES ? PIECE_BYTES : this.#pageBytes
  }

  /**
   * @throws UnreadableDatabase when the file is not SQLite, is in WAL mode (its newest rows are elsewhere), or is not
   *   UTF-8
   */
  static async open(readAt: ReadAt, sizeBytes: number): Promise<SqlitePages> {
    const header = await readAt(0, 100)
    if (header.length < 100 || header.toString('latin1', 0, 16) !== 'SQLite format 3\0')
      throw new UnreadableDatabase('no SQLite database')
    if (header[18] !== 1 || header[19] !== 1) throw new UnreadableDatabase('a database in WAL mode')
    if (header.readUInt32BE(56) !== 1) throw new UnreadableDatabase('a database that is not UTF-8')
    const pages = new SqlitePages(readAt, sizeBytes, header)
    const size = pages.#pageBytes
    if (size < 512 || (size & (size - 1)) !== 0 || pages.#usable < 480)
      throw new UnreadableDatabase('a page size of none')
    return pages
  }

  /** Returns the first page of a table's tree, or undefined without such a table (2.6). */
  async rootOf(table: string): Promise<number | undefined> {
    for await (const row of this.rows(1))
      if (row.text(0) === 'table' && row.text(1) === table) return row.integer(3) ?? 0
    return undefined
  }

  /** Returns the tables whose names match, with the first pages of their trees. */
  async tables(pattern: RegExp): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    for await (const row of this.rows(1)) {
      const name = row.text(1)
      if (row.text(0) === 'table' && name !== undefined && pattern.test(name)) found.set(name, row.integer(3) ?? 0)
    }
    return found
  }

  /** Yields the rows of a table in order of their row ID (1.6). @throws UnreadableDatabase */
  async *rows(root: number): AsyncGenerator<LeafRow> {
    const seen = new Set<number>()
    const ahead = [{ number: root, depth: 0 }]
    for (let next = ahead.pop(); next; next = ahead.pop()) {
      const { number, depth } = next
      // In a valid tree, each page appears once.
      if (seen.has(number) || depth > MOST_DEPTH) throw new UnreadableDatabase('a tree with a page in two places')
      seen.add(number)
      const page = await this.#page(number)
      const start = number === 1 ? 100 : 0
      if (page[start] === leafTable) for (const at of this.#cells(page, start, 8)) yield this.#row(page, at)
      else if (page[start] === interiorTable) {
        const children = this.#cells(page, start, 12).map((at) => page.readUInt32BE(at))
        children.push(page.readUInt32BE(start + 8))
        for (const child of children.reverse()) ahead.push({ number: child, depth: depth + 1 })
      } else throw new UnreadableDatabase(`page ${number} does not belong to a table`)
    }
  }

  #cells(page: Buffer, start: number, headBytes: number): number[] {
    const count = page.readUInt16BE(start + 3)
    this.#cellsLeft -= count
    if (this.#cellsLeft < 0) throw new UnreadableDatabase('too many rows')
    return Array.from({ length: count }, (_, index) => page.readUInt16BE(start + headBytes + 2 * index))
  }

  #row(page: Buffer, at: number): LeafRow {
    const size = varint(page, at)
    const { value: id, end: payload } = varint(page, size.end)
    const local = this.#localBytes(size.value)
    const inPage = page.subarray(payload, payload + local)
    if (inPage.length < local) throw new UnreadableDatabase('a row beyond its page')
    const columns = columnsOf(inPage)
    return {
      id,
      text(column) {
        const found = columns[column]
        if (!found?.isText || found.end > local || found.end - found.start > MOST_NAME_BYTES) return undefined
        return inPage.toString('utf8', found.start, found.end)
      },
      integer(column) {
        const found = columns[column]
        if (found?.constant !== undefined) return found.constant
        if (!found?.isInteger || found.end > local || found.start === found.end) return undefined
        return inPage.readUIntBE(found.start, found.end - found.start)
      },
      longText: async (column, mostBytes) => {
        const found = columns[column]
        if (!found?.isText) throw new UnreadableDatabase('no text where one is expected')
        if (found.end - found.start > mostBytes || found.end > size.value)
          throw new UnreadableDatabase('a text longer than it may be')
        if (found.end <= local) return inPage.subarray(found.start, found.end)
        const rest = await this.#overflow(page.readUInt32BE(payload + local), found.end - local)
        return Buffer.concat([inPage, rest]).subarray(found.start, found.end)
      },
    }
  }

  /** Returns how much of a row is in its own page. The rest is in a chain of overflow pages (1.6). */
  #localBytes(size: number): number {
    const most = this.#usable - 35
    if (size <= most) return size
    const least = Math.floor(((this.#usable - 12) * 32) / 255) - 23
    const fitting = least + ((size - least) % (this.#usable - 4))
    return fitting <= most ? fitting : least
  }

  async #overflow(first: number, length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    let number = first
    for (let left = length; left > 0; left -= this.#usable - 4) {
      const page = await this.#page(number)
      parts.push(page.subarray(4, 4 + Math.min(left, this.#usable - 4)))
      number = page.readUInt32BE(0)
    }
    return Buffer.concat(parts)
  }

  async #page(number: number): Promise<Buffer> {
    if (number < 1) throw new UnreadableDatabase('a page without a number')
    const position = (number - 1) * this.#pageBytes
    const index = Math.floor(position / this.#pieceBytes)
    const piece = await this.#piece(index)
    const page = piece.subarray(position - index * this.#pieceBytes).subarray(0, this.#pageBytes)
    if (page.length < this.#pageBytes) throw new UnreadableDatabase(`page ${number} is beyond the end of the file`)
    return page
  }

  #piece(index: number): Promise<Buffer> {
    let piece = this.#pieces.get(index)
    if (!piece) {
      this.#bytesLeft -= this.#pieceBytes
      if (this.#bytesLeft < 0) throw new UnreadableDatabase('too much to read')
      piece = this.#readAt(index * this.#pieceBytes, this.#pieceBytes)
      this.#pieces.set(index, piece)
    }
    return piece
  }
}

interface Column {
  readonly start: number
  readonly end: number
  readonly isText: boolean
  readonly isInteger: boolean
  /** 0 or 1 for types that store no bytes. */
  readonly constant: number | undefined
}

const integerBytes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0]

/** Returns the positions of a record's columns (2.1). Empty when the header is incomplete. */
function columnsOf(record: Buffer): Column[] {
  const head = varint(record, 0)
  if (head.value > record.length) return []
  const columns: Column[] = []
  let start = head.value
  for (let at = head.end; at < head.value && columns.length < MOST_COLUMNS; ) {
    const type = varint(record, at)
    at = type.end
    const length = type.value >= 12 ? (type.value - 12 - (type.value % 2)) / 2 : integerBytes[type.value]
    if (length === undefined) throw new UnreadableDatabase('a value of no known kind')
    const isText = type.value >= 13 && type.value % 2 === 1
    const constant = type.value === 8 || type.value === 9 ? type.value - 8 : undefined
    columns.push({ start, end: start + length, isText, isInteger: type.value >= 1 && type.value <= 5, constant })
    start += length
  }
  return columns
}

/**
 * Reads a number of 1 to 9 bytes: seven bits each, and eight in the ninth (1.6). Imprecise beyond 2^53, which no size
 * reaches.
 */
function varint(bytes: Buffer, start: number): { value: number; end: number } {
  let value = 0
  for (let at = start; at < start + 8; at++) {
    const byte = bytes.readUInt8(at)
    value = value * 128 + (byte & 0x7f)
    if (byte < 0x80) return { value, end: at + 1 }
  }
  return { value: value * 256 + bytes.readUInt8(start + 8), end: start + 9 }
}
