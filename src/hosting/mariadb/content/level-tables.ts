import type { DatabaseChange } from '../../site-database/database-sums.ts'
import type { TableDefinition } from '../../site-database/sql/table.ts'
import { named } from '../server/connect.ts'
import { asDumpError, beginLoad, type LoadPlace, loadDump } from './load.ts'
import { LoadStatements } from './load-statements.ts'
import { isInParts } from './table-sums.ts'

/** Statements for a dump that has only parts of some tables. These tables stay, and get its rows. */
class PartStatements extends LoadStatements {
  readonly #parts: DatabaseChange['parts']

  constructor(parts: DatabaseChange['parts']) {
    super((bytes) => bytes)
    this.#parts = parts
  }

  override drop(name: string): void {
    if (!this.#parts[name]) super.drop(name)
  }

  override create(table: TableDefinition): void {
    if (!this.#parts[table.name]) super.create(table)
  }
}

/**
 * Removes what has changed, and loads the dump of it. It may run again.
 * @throws DumpUnreadable, DiskFull
 */
export async function levelTables(
  place: Omit<LoadPlace, 'statements'>,
  { gone, parts }: DatabaseChange,
  sql: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { connection, database } = place
  await beginLoad(connection, database)
  try {
    for (const name of gone) await connection.query(`DROP TABLE IF EXISTS ${named(name)}`)
    for (const [name, changed] of Object.entries(parts))
      await connection.query(`DELETE FROM ${named(name)} WHERE ${isInParts(changed)}`)
  } catch (error) {
    throw asDumpError(error)
  }
  await loadDump({ ...place, statements: new PartStatements(parts) }, sql)
}
