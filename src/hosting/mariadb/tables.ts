import type { Connection } from 'mysql2/promise'
import { DumpReader } from '../site-database/sql/read-dump.ts'
import type { ColumnDefinition, TableDefinition } from '../site-database/sql/table.ts'
import { named, rowsOf } from './server/connect.ts'

/** A table at the time it was read. */
export interface SiteTable {
  /** The server's own definition, without what changes with its rows. */
  readonly text: string
  readonly definition: TableDefinition
  /** Columns that store values. */
  readonly columns: readonly ColumnDefinition[]
}

/** Returns the names of the tables of a database. */
export async function tableNames(connection: Connection, database: string): Promise<string[]> {
  const rows = await rowsOf(
    connection,
    "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW') ORDER BY TABLE_NAME",
    [database],
  )
  return rows.map(([name]) => name as string)
}

/** Returns the server's own definition of a table. */
export async function createTextOf(connection: Connection, database: string, table: string): Promise<string> {
  const [row] = await rowsOf(connection, `SHOW CREATE TABLE ${named(database)}.${named(table)}`)
  return row?.[1] ?? ''
}

/** @throws UnreadableSql when a table has something that dumps cannot contain */
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

/** Removes the next AUTO_INCREMENT value, which is not part of a table's definition. */
export const withoutCount = (text: string): string => text.replace(/ AUTO_INCREMENT=\d+(?= |$)/, '')
