import { type RowSource, rowOfText, rowText, type Table, type TableRow } from './table-rows.ts'

/*
 * A whole database as lines of JSON, in the same order for both kinds of databases. The first line describes the
 * tables. The name of each table is followed by its rows. The last line has the number of rows, so that a truncated
 * text is not taken for a complete one.
 */

/** The facts about the tables that come before their rows. */
interface Tables {
  readonly tables: readonly Table[]
  /** Only for tables that assign ids. */
  readonly lastIds: Readonly<Record<string, number>>
}

/** How many rows form one piece of text. */
const LINES_AT_ONCE = 200

/** The text is truncated, or has another format. */
export class RowsUnreadable extends Error {
  override readonly name = 'RowsUnreadable'
}

/**
 * Yields the rows as text.
 * @param head more data for the first line, which the reader returns unchanged
 */
export async function* textOfRows(source: RowSource, head: object): AsyncGenerator<Buffer> {
  const tables = await source.tables()
  const lastIds: Record<string, number> = {}
  for (const table of tables) if (table.isNumbered) lastIds[table.name] = await source.lastId(table)
  yield line({ head, tables, lastIds })
  let rows = 0
  for (const table of tables) {
    yield line({ table: table.name })
    for await (const batch of source.rows(table))
      for (let at = 0; at < batch.length; at += LINES_AT_ONCE) {
        const part = batch.slice(at, at + LINES_AT_ONCE)
        rows += part.length
        yield Buffer.from(part.map((row) => `${rowText(row)}\n`).join(''))
      }
  }
  yield line({ end: rows })
}

const line = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`)

export interface RowText<Head> {
  readonly head: Head
  /** Can be read once, table by table in their order. */
  readonly rows: RowSource
}

/**
 * Reads the output of {@link textOfRows}. The caller must check the head.
 * @throws RowsUnreadable, here or while rows are read
 */
export async function readRowText<Head>(content: AsyncIterable<Uint8Array>): Promise<RowText<Head>> {
  const lines = linesOf(content)
  const first = parsed<{ head: Head } & Tables>((await lines.next()).value)
  if (!first || !Array.isArray(first.tables) || typeof first.lastIds !== 'object')
    throw new RowsUnreadable('This is not a text of database rows.')
  return { head: first.head, rows: new TextRows(first, lines) }
}

class TextRows implements RowSource {
  readonly #known: Tables
  readonly #lines: AsyncGenerator<string, undefined>
  /** How many tables are read completely. */
  #done = 0
  #rows = 0
  #ahead: string | undefined

  constructor(known: Tables, lines: AsyncGenerator<string, undefined>) {
    this.#known = known
    this.#lines = lines
  }

  async tables(): Promise<readonly Table[]> {
    return this.#known.tables
  }

  async lastId({ name }: Table): Promise<number> {
    return this.#known.lastIds[name] ?? 0
  }

  async *rows({ name }: Table): AsyncGenerator<readonly TableRow[]> {
    const heading = parsed<{ table: string }>(this.#ahead ?? (await this.#lines.next()).value)
    if (heading?.table !== name) throw new RowsUnreadable(`Rows of ${name} were expected.`)
    let batch: TableRow[] = []
    for (;;) {
      const text = (await this.#lines.next()).value
      if (!text?.startsWith('[')) {
        this.#ahead = text
        break
      }
      batch.push(rowOfText(text))
      this.#rows++
      if (batch.length < LINES_AT_ONCE) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
    this.#done++
    if (this.#ahead === undefined) throw new RowsUnreadable(`The text ends inside ${name}.`)
    if (this.#done === this.#known.tables.length && parsed<{ end: number }>(this.#ahead)?.end !== this.#rows)
      throw new RowsUnreadable('The number of rows differs from what the text states.')
  }
}

function parsed<Value>(text: string | undefined): Value | undefined {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Yields complete lines without their ends. */
async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<string, undefined> {
  let begun: Buffer[] = []
  for await (const piece of content) {
    let rest = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
    for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
      yield Buffer.concat([...begun, rest.subarray(0, end)]).toString()
      begun = []
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) begun.push(Buffer.from(rest))
  }
  return undefined
}
