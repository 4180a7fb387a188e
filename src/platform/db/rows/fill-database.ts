import type { Database, Tx } from '../database.ts'
import { type Migrations, migrateIn } from '../migrate.ts'
import { type CopiedRows, compareRows, copyRows, type OnRows } from './copy-rows.ts'
import { databaseRows } from './database-rows.ts'
import type { RowSource } from './table-rows.ts'

/** The target database is not empty. */
export class NotEmpty extends Error {
  override readonly name = 'NotEmpty'
}

export interface FillOptions {
  /** The migrations applied to the source, so that the tables match. */
  readonly migrations: Migrations
  readonly onCopied?: OnRows
  readonly onCompared?: OnRows
  /** Writes further data in the same transaction. */
  readonly finish?: (tx: Tx) => Promise<void>
}

/**
 * Fills an empty database in one transaction. It commits only after every row was read again and equals the source's
 * row. If it is interrupted at any moment, the database is still empty.
 * @param source returns the rows from the beginning, at each call
 * @throws NotEmpty, RowsDiffer, CommitUnknown
 */
export async function fillDatabase(
  database: Database,
  source: () => RowSource | Promise<RowSource>,
  { migrations, onCopied, onCompared, finish }: FillOptions,
): Promise<CopiedRows> {
  return database.transaction(async (tx) => {
    const tables = await tx.introspection.getTables({ withInternalKyselyTables: true })
    if (tables.length > 0) throw new NotEmpty('it contains tables')
    await migrateIn(tx, migrations)
    const filled = databaseRows(tx)
    await copyRows(await source(), filled, onCopied)
    const copied = await compareRows(await source(), filled, onCompared)
    await finish?.(tx)
    return copied
  })
}
