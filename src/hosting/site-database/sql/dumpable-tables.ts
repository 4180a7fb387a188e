import type { DatabaseSync } from 'node:sqlite'
import { isInternal, knownTable } from './plugin-schema.ts'
import {
  type ColumnDefinition,
  defaultCharset,
  defaultCollation,
  type KeyDefinition,
  sqliteTypes,
  type TableDefinition,
  textTypes,
} from './table.ts'
import { quotedName } from './write-table.ts'

/** A table of a site as MySQL will see it, and how to read its rows. */
export interface DumpableTable {
  readonly definition: TableDefinition
  readonly columns: readonly DumpableColumn[]
  /** ORDER BY, so that rows are restored in the order in which they are stored. */
  readonly order: string
}

interface DumpableColumn {
  readonly name: string
  /** Whether SQLite ensures that it contains only text or NULL. */
  readonly isTyped: boolean
  readonly isBit: boolean
}

interface SqliteColumn {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
  readonly pk: number
  readonly hidden: number
}

/** Returns all tables of a site's content: those that the plugin knows, and those that were created without it. */
export function dumpableTables(database: DatabaseSync): DumpableTable[] {
  const knows = database
    .prepare("SELECT 1 FROM sqlite_schema WHERE name = '_wp_sqlite_mysql_information_schema_tables'")
    .get()
  const tables = database
    .prepare(
      "SELECT t.name, t.strict, t.wr FROM pragma_table_list t JOIN sqlite_schema s ON s.type = 'table' AND s.name = t.name WHERE t.schema = 'main' AND t.type = 'table' ORDER BY s.rowid",
    )
    .all() as {
    name: string
    strict: number
    wr: number
  }[]
  const sequences = sequencesOf(database)
  return tables.flatMap(({ name, strict, wr }) => {
    if (isInternal(name)) return []
    const columns = database.prepare('SELECT * FROM pragma_table_xinfo(?)').all(name) as unknown as SqliteColumn[]
    const known = knows ? knownTable(database, name) : undefined
    const found = known && isSame(known, columns) ? known : unknownTable(database, name, columns)
    const fitting = strict
      ? found
      : { ...found, columns: found.columns.map((column) => fitted(database, name, column)) }
    const sequence = sequences.get(name.toLowerCase())
    const counts = fitting.columns.some((column) => column.isAutoIncrement)
    const definition = {
      ...fitting,
      autoIncrement: counts && sequence !== undefined && sequence > 0n ? sequence + 1n : undefined,
    }
    return {
      definition,
      columns: definition.columns.map((column) => ({
        name: column.name,
        isTyped: strict === 1 && sqliteTypes[column.dataType] === 'TEXT',
        isBit: column.dataType === 'bit',
      })),
      order: wr ? '' : rowIdOrder(columns),
    }
  })
}

function sequencesOf(database: DatabaseSync): Map<string, bigint> {
  if (!database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").get()) return new Map()
  const statement = database.prepare("SELECT name, seq FROM sqlite_sequence WHERE typeof(seq) = 'integer'")
  statement.setReadBigInts(true)
  return new Map(statement.all().map(({ name, seq }) => [String(name).toLowerCase(), seq as bigint]))
}

/** Returns whether the plugin's record still matches the table, which may have been changed without the plugin. */
function isSame(known: TableDefinition, columns: readonly SqliteColumn[]): boolean {
  const names = new Set(columns.map(({ name }) => name.toLowerCase()))
  return known.columns.length === names.size && known.columns.every(({ name }) => names.has(name.toLowerCase()))
}

/** Returns ORDER BY the row ID, under a name for it that no column uses. */
function rowIdOrder(columns: readonly SqliteColumn[]): string {
  const names = new Set(columns.map(({ name }) => name.toLowerCase()))
  const free = ['rowid', '_rowid_', 'oid'].find((name) => !names.has(name))
  return free ? `ORDER BY ${free}` : ''
}

function unknownTable(database: DatabaseSync, name: string, columns: readonly SqliteColumn[]): TableDefinition {
  const primary = columns.filter(({ pk }) => pk > 0).toSorted((one, other) => one.pk - other.pk)
  const { sql } = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) as {
    sql: string
  }
  const counts = primary.length === 1 && /\bAUTOINCREMENT\b/i.test(sql ?? '')
  const keys: KeyDefinition[] =
    primary.length === 0
      ? []
      : [{ kind: 'primary', name: 'PRIMARY', comment: '', parts: primary.map((column) => part(column.name)) }]
  return {
    name,
    engine: 'InnoDB',
    collation: defaultCollation,
    comment: '',
    autoIncrement: undefined,
    columns: columns.map((column) => unknownColumn(column, counts)),
    keys: [...keys, ...indexesOf(database, name)],
    foreignKeys: [],
    checks: [],
  }
}

const part = (column: string, isDescending = false) => ({ column, length: undefined, isDescending })

function unknownColumn(column: SqliteColumn, counts: boolean): ColumnDefinition {
  const isKey = column.pk > 0
  const text = column.dflt_value
  const literal = text === null ? undefined : /^'((?:[^']|'')*)'$/.exec(text)?.[1]?.replaceAll("''", "'")
  const value = literal ?? (text !== null && /^[-+]?\d+(\.\d+)?$/.test(text) ? text : undefined)
  const plain: ColumnDefinition = {
    name: column.name,
    dataType: 'longtext',
    size: undefined,
    isUnsigned: false,
    isZerofill: false,
    charset: null,
    collation: null,
    isNullable: !isKey && column.notnull === 0,
    default: value === undefined || (counts && isKey) ? undefined : { kind: 'value', text: value },
    isAutoIncrement: counts && isKey,
    setsTimeOnUpdate: false,
    comment: '',
    generated: undefined,
  }
  return withType(plain, typeOfAffinity(column.type))
}

/** https://www.sqlite.org/datatype3.html#determination_of_column_affinity */
function typeOfAffinity(declared: string): string {
  const type = declared.toUpperCase()
  if (type.includes('INT')) return 'bigint'
  if (/CHAR|CLOB|TEXT/.test(type)) return 'longtext'
  if (type.includes('BLOB')) return 'longblob'
  if (/REAL|FLOA|DOUB/.test(type)) return 'double'
  return type === '' ? 'longtext' : 'double'
}

const withType = (column: ColumnDefinition, dataType: string): ColumnDefinition => ({
  ...column,
  dataType,
  size: undefined,
  charset: textTypes.has(dataType) ? defaultCharset : null,
  collation: textTypes.has(dataType) ? defaultCollation : null,
})

/**
 * Returns a column that can store all existing values, because SQLite allows any value in a table that is not strict.
 */
function fitted(database: DatabaseSync, table: string, column: ColumnDefinition): ColumnDefinition {
  const name = quotedName(column.name)
  const kinds = database
    .prepare(`SELECT DISTINCT typeof(${name}) AS kind FROM ${quotedName(table)} WHERE ${name} IS NOT NULL`)
    .all()
    .map(({ kind }) => String(kind))
  const type = sqliteTypes[column.dataType]
  const fits: Record<string, readonly string[]> = {
    INTEGER: ['integer'],
    REAL: ['integer', 'real'],
    TEXT: ['text'],
    BLOB: ['blob'],
  }
  if (kinds.every((kind) => fits[type as string]?.includes(kind))) return column
  if (kinds.includes('blob')) return withType(column, 'longblob')
  if (kinds.includes('text')) return withType(column, 'longtext')
  return withType(column, kinds.includes('real') ? 'double' : 'bigint')
}

function indexesOf(database: DatabaseSync, table: string): KeyDefinition[] {
  const indexes = database
    .prepare('SELECT name, "unique" AS one, origin, partial FROM pragma_index_list(?)')
    .all(table) as {
    name: string
    one: number
    origin: string
    partial: number
  }[]
  return indexes.reverse().flatMap(({ name, one, origin, partial }) => {
    const columns = database
      .prepare('SELECT name, "desc" AS falls FROM pragma_index_xinfo(?) WHERE key = 1')
      .all(name) as {
      name: string | null
      falls: number
    }[]
    // A key on an expression, or on some rows only. MySQL has no such keys.
    if (origin === 'pk' || partial || columns.some((column) => column.name === null)) return []
    const own = name.startsWith(`${table}__`) ? name.slice(table.length + 2) : name
    const kept = own.startsWith('sqlite_autoindex_') ? (columns[0]?.name as string) : own
    return {
      kind: one ? ('unique' as const) : ('plain' as const),
      name: kept.slice(0, 64),
      comment: '',
      parts: columns.map((column) => part(column.name as string, column.falls === 1)),
    }
  })
}
