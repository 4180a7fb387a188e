import type { Connection } from 'mysql2/promise'
import type {
  ChangedParts,
  DatabaseSums,
  DatabaseTotals,
  RowSum,
  TableParts,
} from '../../site-database/database-sums.ts'
import { type ColumnDefinition, sqliteTypes } from '../../site-database/sql/table.ts'
import { bytesOf, named, rowsOf } from '../server/connect.ts'
import { createTextOf, readCreateText, type SiteTable, tableNames } from '../tables.ts'

/** A part of a table has about this many bytes, by the statistics of the server, and at most so many rows. */
const PART_BYTES = 256 << 10
const PART_ROWS = 500
/** Parts of a table at most. A table with numbers far apart would have one for each row. */
const MOST_PARTS = 20_000n
const INTEGERS: readonly string[] = ['tinyint', 'smallint', 'mediumint', 'int', 'bigint']

/** The server cannot sum up a table, such as one with a row that is longer than a statement. */
export class NotSummable extends Error {
  override readonly name = 'NotSummable'
}

/**
 * Sums up tables on the server, without reading their rows.
 * @param like earlier sums, whose parts are used again
 * @throws NotSummable
 */
export async function sumTables(
  connection: Connection,
  database: string,
  tables: readonly SiteTable[],
  like: DatabaseSums = {},
): Promise<DatabaseSums> {
  const all: Record<string, DatabaseSums[string]> = {}
  for (const table of tables) {
    const { name } = table.definition
    const known = like[name]
    const parts = known?.text === table.text ? known.parts : await partsOf(connection, database, table)
    const key = parts ? `${named(parts.column)} DIV ${parts.size}` : "''"
    const from = `FROM ${named(database)}.${named(name)}`
    const rows = await sumRows(connection, `SELECT ${key}, ${sumOf(table)} ${from} GROUP BY 1 ORDER BY NULL`)
    const sums = rows.map(([part = '', count, sum]): [string, RowSum] => [part, [Number(count), sum as string]])
    all[name] = { text: table.text, parts, sums: Object.fromEntries(sums) }
  }
  return all
}

/** Returns the totals of all tables of a database. @throws NotSummable */
export async function sumUpTables(connection: Connection, database: string): Promise<DatabaseTotals> {
  const totals: Record<string, RowSum> = {}
  for (const name of await tableNames(connection, database)) {
    const table = readCreateText(await createTextOf(connection, database, name))
    const [row] = await sumRows(connection, `SELECT ${sumOf(table)} FROM ${named(database)}.${named(name)}`)
    totals[table.definition.name] = [Number(row?.[0]), row?.[1] || '0']
  }
  return totals
}

async function sumRows(connection: Connection, sql: string): Promise<string[][]> {
  const rows = await rowsOf(connection, sql)
  // A text that becomes too long counts as NULL, with a warning.
  const [warnings] = await rowsOf(connection, 'SELECT @@warning_count')
  if (warnings?.[0] !== '0') throw new NotSummable('The server cannot sum up all rows of the database')
  return rows
}

async function partsOf(
  connection: Connection,
  database: string,
  { definition }: SiteTable,
): Promise<TableParts | null> {
  const primary = definition.keys.find(({ kind }) => kind === 'primary')
  const column = definition.columns.find(({ name }) => name === primary?.parts[0]?.column)
  if (!column || !INTEGERS.includes(column.dataType)) return null
  const [size] = await rowsOf(
    connection,
    'SELECT AVG_ROW_LENGTH FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?',
    [database, bytesOf(definition.name)],
  )
  const name = named(column.name)
  const [ends] = await rowsOf(
    connection,
    `SELECT MIN(${name}), MAX(${name}) FROM ${named(database)}.${named(definition.name)}`,
  )
  const [least = 0n, most = 0n] = (ends ?? []).map((text) => BigInt(text || 0))
  const rows = BigInt(Math.min(PART_ROWS, Math.ceil(PART_BYTES / Math.max(1, Number(size?.[0])))))
  const apart = (most - least) / MOST_PARTS + 1n
  return { column: column.name, size: String(rows > apart ? rows : apart) }
}

/** Selects the number of rows, and the sum of a hash of each: 60 bits, which any change of a value changes. */
function sumOf({ columns }: SiteTable): string {
  const values = columns.flatMap((column) => {
    const value = textOf(column)
    // Without its length, a text could end where the next begins.
    return isNumber(column)
      ? [`IFNULL(${value}, 'N')`]
      : [`IFNULL(LENGTH(${value}), 'N')`, `IFNULL(${value}, _binary'')`]
  })
  const row = `CONCAT_WS(_binary'|', ${values.join(', ')})`
  return `COUNT(*), SUM(CAST(CONV(LEFT(SHA1(${row}), 15), 16, 10) AS UNSIGNED))`
}

const isNumber = ({ dataType }: ColumnDefinition): boolean =>
  dataType !== 'bit' && (sqliteTypes[dataType] === 'INTEGER' || sqliteTypes[dataType] === 'REAL')

/** The server prints FLOAT with six digits, but DOUBLE with all. */
const textOf = ({ name, dataType }: ColumnDefinition): string =>
  dataType === 'float' ? `CAST(${named(name)} AS DOUBLE)` : named(name)

/** Returns a condition for the rows of changed parts. */
export function isInParts({ column, size, changed }: ChangedParts): string {
  const step = BigInt(size)
  return changed
    .map((part) => {
      const at = BigInt(part)
      // Division cuts towards zero.
      const from = at > 0n ? at * step : at * step - step + 1n
      const to = at < 0n ? at * step : at * step + step - 1n
      return `${named(column)} BETWEEN ${from} AND ${to}`
    })
    .join(' OR ')
}
