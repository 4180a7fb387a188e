import type { Database, Tx } from '../database.ts'
import { type Migrations, migrateIn } from '../migrate.ts'
import { type Copied, compareRows, copyRows, type OnRows } from './copy-rows.ts'
import { databaseRows } from './database-rows.ts'
import type { RowSource } from './table-rows.ts'

/** The database that was to be filled has something in it. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty'
}

export interface FillOptions {
  /** What the source has had, so that the tables are its own. */
  readonly migrations: Migrations
  readonly onCopied?: OnRows
  readonly onCompared?: OnRows
  /** What else belongs to it, in the same transaction. */
  readonly finish?: (tx: Tx) => Promise<void>
}

/**
 * Fills an empty database in one transaction, which is kept only when every row was read again and is the source's. Cut off at any moment, the
 * database is empty still.
 * @param source the rows from their beginning, each time it is asked for
 * @throws NotEmpty, RowsDiffer, CommitUnknown
 */
export async function fillDatabase(
  database: Database,
  source: () => RowSource | Promise<RowSource>,
  { migrations, onCopied, onCompared, finish }: FillOptions,
): Promise<Copied> {
  return database.transaction(async (tx) => {
    const tables = await tx.introspection.getTables({ withInternalKyselyTables: true })
    if (tables.length > 0) throw new NotEmpty('there are tables in it')
    await migrateIn(tx, migrations)
    const filled = databaseRows(tx)
    await copyRows(await source(), filled, onCopied)
    const copied = await compareRows(await source(), filled, onCompared)
    await finish?.(tx)
    return copied
  })
}
