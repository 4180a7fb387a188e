import type { Connection } from 'mysql2/promise'
import type { DumpOptions } from '../../site-database/database-content.ts'
import type { ChangedParts } from '../../site-database/database-sums.ts'
import { DumpOutput, dumpHead, dumpTail, MOST_INSERT_BYTES } from '../../site-database/sql/dump-text.ts'
import { type ColumnDefinition, sqliteTypes } from '../../site-database/sql/table.ts'
import { quotedName, textOfTable } from '../../site-database/sql/write-table.ts'
import { named } from '../server/connect.ts'
import { createTextOf, readCreateText, type SiteTable, tableNames, withoutCount } from '../tables.ts'
import { type RawRow, readRows } from './read-rows.ts'
import { isInParts } from './table-sums.ts'

/** A transaction that sees a database as it was when it began, and the tables that existed then. */
export interface DumpTransaction {
  readonly connection: Connection
  readonly database: string
  readonly tables: readonly SiteTable[]
}

/**
 * Begins a transaction. No statement of the site may run meanwhile, because table definitions are not part of the
 * transaction.
 */
export async function beginMoment(connection: Connection, database: string): Promise<DumpTransaction> {
  await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ')
  await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY')
  const tables: SiteTable[] = []
  for (const name of await tableNames(connection, database))
    tables.push(readCreateText(await createTextOf(connection, database, name)))
  return { connection, database, tables }
}

/**
 * Writes the dump of a moment in the format that `child/dump.ts` uses for SQLite files. May be called again.
 * @param parts of tables, by name; only rows in them are written
 */
export async function* dumpMoment(
  { connection, database, tables }: DumpTransaction,
  wanted?: readonly string[],
  parts: NonNullable<DumpOptions['parts']> = {},
): AsyncGenerator<Uint8Array, void, void> {
  const names = wanted && new Set(wanted.map((name) => name.toLowerCase()))
  const chosen = tables.filter(({ definition }) => !names || names.has(definition.name.toLowerCase()))
  let pieces: Buffer[] = []
  const out = new DumpOutput((piece) => void pieces.push(Buffer.from(piece)))
  const given = () => {
    const all = pieces
    pieces = []
    return all
  }
  out.text(dumpHead)
  for (const { definition } of chosen)
    out.text(`DROP TABLE IF EXISTS ${quotedName(definition.name)};\n${textOfTable(definition)};\n\n`)
  for (const table of chosen) {
    // Reading locks the table against changes by the site until the transaction ends. Rolling back to the savepoint
    // releases it.
    await connection.query('SAVEPOINT looked')
    const writer = new RowsWriter(out, table)
    for await (const rows of readRows(connection, selectOf(database, table, parts[table.definition.name]))) {
      for (const row of rows) {
        writer.write(row)
        if (pieces.length > 0) yield* given()
      }
    }
    writer.end()
    await checkSame(connection, database, table)
    await connection.query('ROLLBACK TO SAVEPOINT looked')
  }
  out.text(dumpTail)
  out.flush()
  yield* given()
}

/**
 * Checks that a table is unchanged. A column can be dropped and added without a rebuild, so old rows would be read with
 * new columns. Reading locks the definition until the rollback.
 * @throws TableChanged
 */
async function checkSame(connection: Connection, database: string, { definition, text }: SiteTable): Promise<void> {
  const now = withoutCount(await createTextOf(connection, database, definition.name))
  if (now !== text) throw new TableChanged(`${definition.name} was changed while it was read`)
}

/** A table has changed since the moment began. */
export class TableChanged extends Error {
  override readonly name = 'TableChanged'
}

/** Selects rows in the order of the primary key, in which they are stored, so that equal content gives equal text. */
function selectOf(database: string, { definition, columns }: SiteTable, parts: ChangedParts | undefined): string {
  // The server prints FLOAT with six digits, but DOUBLE with all.
  const selected = columns.map(({ name, dataType }) =>
    dataType === 'float' ? `CAST(${named(name)} AS DOUBLE)` : named(name),
  )
  const primary = definition.keys.find(({ kind }) => kind === 'primary')
  const isWhole = primary?.parts.every(({ length }) => length === undefined)
  const order = primary && isWhole ? ` ORDER BY ${primary.parts.map((part) => named(part.column)).join(', ')}` : ''
  const where = parts ? ` WHERE ${isInParts(parts)}` : ''
  return `SELECT ${selected.join(', ')} FROM ${named(database)}.${named(definition.name)}${where}${order}`
}

class RowsWriter {
  readonly #out: DumpOutput
  readonly #columns: readonly ColumnDefinition[]
  readonly #head: string
  #bytes = 0

  constructor(out: DumpOutput, { definition, columns }: SiteTable) {
    this.#out = out
    this.#columns = columns
    this.#head = `INSERT INTO ${quotedName(definition.name)} (${columns.map(({ name }) => quotedName(name)).join(', ')}) VALUES\n`
  }

  write(row: RawRow): void {
    const out = this.#out
    const before = out.written
    if (this.#bytes > 0 && this.#bytes < MOST_INSERT_BYTES) out.text(',\n(')
    else {
      out.text(`${this.#bytes > 0 ? ';\n' : ''}${this.#head}(`)
      this.#bytes = 0
    }
    for (const [at, value] of row.entries()) {
      if (at > 0) out.text(',')
      writeValue(out, value, this.#columns[at] as ColumnDefinition)
    }
    out.text(')')
    this.#bytes += out.written - before
  }

  end(): void {
    if (this.#bytes > 0) this.#out.text(';\n\n')
  }
}

function writeValue(out: DumpOutput, value: Buffer | null, { dataType }: ColumnDefinition): void {
  if (value === null) out.text('NULL')
  else if (dataType === 'bit') out.text(`b'${bitsOf(value)}'`)
  else if (dataType === 'float') out.text(shortestFloat(value.toString('latin1')))
  else if (sqliteTypes[dataType] === 'INTEGER' || sqliteTypes[dataType] === 'REAL') out.text(value.toString('latin1'))
  else if (sqliteTypes[dataType] === undefined) out.quoted(value, isPlain(value))
  else out.quoted(value, sqliteTypes[dataType] === 'TEXT' && !isGeometry(dataType))
}

/** Whether a value of a type that only the server knows is text and not bytes. */
const isPlain = (value: Buffer): boolean => value.every((byte) => byte >= 0x20 && byte < 0x7f)

const isGeometry = (dataType: string): boolean => /^geom|point$|linestring$|polygon$/.test(dataType)

const bitsOf = (bytes: Buffer): string => BigInt(`0x${bytes.toString('hex') || '0'}`).toString(2)

const LARGEST_FLOAT = (2 - 2 ** -23) * 2 ** 127

/** Returns the shortest text that parses to the same four-byte number. */
function shortestFloat(double: string): string {
  const number = Number(double)
  for (let digits = 1; digits <= 9; digits++) {
    const text = number.toPrecision(digits)
    // Rounded up, it would exceed the largest value, which the server rejects.
    if (Math.fround(Number(text)) === number && Math.abs(Number(text)) <= LARGEST_FLOAT) return text
  }
  return double
}
