import { readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { addressRewriter, type RewriteAddress } from '../rewrite-addresses.ts'
import { DumpLoad } from '../sql/dump-load.ts'
import type { DumpTarget } from '../sql/dump-tables.ts'
import { createTable, dropTable, makeSchema } from '../sql/plugin-schema.ts'
import type { OnDuplicate, Value } from '../sql/read-dump.ts'
import { readableDump } from '../sql/readable-dump.ts'
import { UnreadableSql } from '../sql/sql-tokens.ts'
import { type ColumnDefinition, sqliteTypes, type TableDefinition } from '../sql/table.ts'
import { quotedName } from '../sql/write-table.ts'
import { openHostile } from './open.ts'
import type { LoadOrder, LoadResult } from './orders.ts'

const PIECE_BYTES = 1 << 16
/** The name of a table while it is created again. No dump's table may have it. */
const BEFORE = '_wp_sqlite_stead_before'
const VERBS: Readonly<Record<string, string>> = { ignore: 'OR IGNORE', replace: 'OR REPLACE' }

/** Creates or changes `next.sqlite` from the incoming dump, completely or not at all. */
export async function loadDatabase({ folder, tables, changes, foreign, mostBytes }: LoadOrder): Promise<void> {
  const database = openHostile(join(folder, 'next.sqlite'))
  // A copy may include its journal. This plays it back before journals are turned off.
  database.prepare('SELECT count(*) FROM sqlite_schema').get()
  // The file is deleted when anything fails, so nothing needs to wait for the disk, and no journal is needed.
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE')
  // Triggers of the tables that stay belong to the site, and may write endlessly.
  const { page_size: pageBytes } = database.prepare('PRAGMA page_size').get() as { page_size: number }
  database.exec(`PRAGMA max_page_count = ${Math.max(1, Math.min(2 ** 32 - 2, Math.floor(mostBytes / pageBytes)))}`)
  const dump = new DumpLoad(new Loader(database, addressRewriter(changes)), {
    ...(tables && { wanted: tables }),
    ...(foreign && { foreign }),
  })
  try {
    database.exec('BEGIN')
    makeSchema(database)
    if (foreign) for await (const piece of readableDump(input())) dump.write(piece)
    else for (const piece of input()) dump.write(piece)
    dump.finish()
    database.exec('COMMIT')
    database.close()
    say(dump.result)
  } catch (error) {
    if (!(error instanceof UnreadableSql)) throw error
    say({ unreadable: error.full })
  }
}

function* input(): Generator<Uint8Array, void, void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES)
  for (;;) {
    const bytes = readSync(0, piece)
    if (bytes === 0) return
    yield piece.subarray(0, bytes)
  }
}

function say(result: LoadResult): void {
  writeSync(1, JSON.stringify(result))
}

interface Insert {
  readonly statement: StatementSync
  readonly columns: readonly ColumnDefinition[]
}

class Loader implements DumpTarget<Insert> {
  readonly #database: DatabaseSync
  readonly #rewrite: RewriteAddress

  constructor(database: DatabaseSync, rewrite: RewriteAddress) {
    this.#database = database
    this.#rewrite = rewrite
  }

  drop(name: string): void {
    this.#tried(() => dropTable(this.#database, name))
  }

  create(table: TableDefinition): void {
    const strange = table.columns.find(({ dataType }) => sqliteTypes[dataType] === undefined)
    if (strange)
      throw new UnreadableSql(
        `The column ${strange.name} of ${table.name} has the type ${strange.dataType}, which only MariaDB has`,
      )
    this.#tried(() => createTable(this.#database, table))
  }

  empty(name: string): void {
    this.#tried(() => this.#database.exec(`DELETE FROM ${quotedName(name)}`))
  }

  /** Changes a table by creating it again and copying its rows, because SQLite cannot change the keys of a table. */
  alter({ name }: TableDefinition, after: TableDefinition): void {
    const database = this.#database
    this.#tried(() => {
      // Foreign keys of other tables keep referring to its name.
      database.exec('PRAGMA legacy_alter_table = ON')
      for (const statement of this.#droppingOf(name)) database.exec(statement)
      database.exec(`ALTER TABLE ${quotedName(name)} RENAME TO ${BEFORE}`)
      dropTable(database, name)
      createTable(database, after)
      const columns = after.columns.filter(({ generated }) => !generated).map((column) => quotedName(column.name))
      database.exec(`INSERT INTO ${quotedName(name)} (${columns}) SELECT ${columns} FROM ${BEFORE}`)
      database.exec(`DROP TABLE ${BEFORE}`)
      database.exec('PRAGMA legacy_alter_table = OFF')
    })
  }

  /** Returns the statements that drop what belongs to a table and would clash with the new table's names. */
  #droppingOf(table: string): string[] {
    const rows = this.#database
      .prepare(
        "SELECT type, name FROM sqlite_schema WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL",
      )
      .all(table) as { type: string; name: string }[]
    return rows.map(({ type, name }) => `DROP ${type.toUpperCase()} ${quotedName(name)}`)
  }

  prepare(table: TableDefinition, columns: readonly ColumnDefinition[], onDuplicate?: OnDuplicate): Insert {
    const values = columns.map(({ dataType }) => (sqliteTypes[dataType] === 'TEXT' ? 'CAST(? AS TEXT)' : '?'))
    const statement = this.#database.prepare(
      `INSERT ${VERBS[String(onDuplicate)] ?? ''} INTO ${quotedName(table.name)} (${columns.map(({ name }) => quotedName(name)).join(', ')}) VALUES (${values.join(', ')})${updating(onDuplicate)}`,
    )
    return { statement, columns }
  }

  insert({ statement, columns }: Insert, values: readonly Value[]): void {
    const bound = values.map((value, at) => this.#bound(value, columns[at] as ColumnDefinition))
    this.#tried(() => statement.run(...bound))
  }

  /** Returns the value as SQLite stores it. Text is bound as its bytes: a string would lose text that is not UTF-8. */
  #bound(value: Value, column: ColumnDefinition): null | bigint | number | Uint8Array {
    if (value.kind === 'null') return null
    const type = sqliteTypes[column.dataType]
    if (type === 'TEXT' || type === 'BLOB')
      return this.#rewrite(value.kind === 'number' ? Buffer.from(value.text) : value.bytes)
    if (type === 'INTEGER' && value.kind !== 'number') {
      if (value.kind === 'bits' || column.dataType === 'bit') return wholeOf(value.bytes)
    }
    const text = value.kind === 'number' ? value.text : Buffer.from(value.bytes).toString()
    if (type === 'INTEGER') return integerOf(text, column)
    const number = Number(text)
    if (Number.isNaN(number)) throw new UnreadableSql(`${column.name} has a value that is not a number`)
    return number
  }

  /** Runs the work. If SQLite refuses something, the dump is at fault, unless the disk is full or broken. */
  #tried(work: () => unknown): void {
    try {
      work()
    } catch (error) {
      const { errcode = 0, message } = error as { errcode?: number; message: string }
      // SQLITE_ERROR, SQLITE_TOOBIG, SQLITE_CONSTRAINT, SQLITE_MISMATCH.
      if ([1, 18, 19, 20].includes(errcode & 0xff)) throw new UnreadableSql(message)
      throw error
    }
  }
}

function updating(onDuplicate: OnDuplicate | undefined): string {
  if (typeof onDuplicate !== 'object') return ''
  const names = onDuplicate.update.map(quotedName)
  return ` ON CONFLICT DO UPDATE SET ${names.map((name) => `${name} = excluded.${name}`).join(', ')}`
}

/** Returns bits in MySQL's order: the first byte is the highest. */
function wholeOf(bytes: Uint8Array): bigint {
  let whole = 0n
  for (const byte of bytes) whole = BigInt.asIntN(64, (whole << 8n) | BigInt(byte))
  return whole
}

function integerOf(text: string, column: ColumnDefinition): bigint {
  const whole = /^[-+]?\d+$/.test(text) ? BigInt(text) : BigInt(Math.round(Number(text) || 0))
  if (BigInt.asIntN(64, whole) !== whole)
    throw new UnreadableSql(`${column.name} has a number that SQLite cannot keep, ${whole}`)
  return whole
}
