import type { Connection } from 'mysql2/promise'
import { DumpReader } from '../site-database/sql/read-dump.ts'
import type { ColumnDefinition, TableDefinition } from '../site-database/sql/table.ts'
import { named, rowsOf } from './server/connect.ts'

/** A table, as it was when it was looked at. */
export interface SiteTable {
  /** The server's own text of it, without what changes with its rows. */
  readonly text: string
  readonly definition: TableDefinition
  /** Those that have values of their own. */
  readonly columns: readonly ColumnDefinition[]
}

/** Names of the tables of a database, as they are. */
export async function tableNames(connection: Connection, database: string): Promise<string[]> {
  const rows = await rowsOf(
    connection,
    "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW') ORDER BY TABLE_NAME",
    [database],
  )
  return rows.map(([name]) => name as string)
}

/** The server's own text of a table. */
export async function createTextOf(connection: Connection, database: string, table: string): Promise<string> {
  const [row] = await rowsOf(connection, `SHOW CREATE TABLE ${named(database)}.${named(table)}`)
  return row?.[1] ?? ''
}

/** @throws UnreadableSql when a table has something that dumps do not have */
export function readCreateText(text: string): SiteTable {
  const reader = new DumpReader()
  const events = [...reader.write(Buffer.from(`${text};\n-- Dump completed`)), ...reader.finish()]
  const created = events.find((event) => event.kind === 'create')
  if (created?.kind !== 'create') throw new Error('The server has no text of a table')
  return {
    text: withoutCount(text),
    definition: created.table,
    columns: created.table.columns.filter(({ generated }) => !generated),
  }
}

/** The number that the next row gets is no part of how a table is made. */
export const withoutCount = (text: string): string => text.replace(/ AUTO_INCREMENT=\d+(?= |$)/, '')
