import { type CreateTableBuilder, type Kysely, PostgresAdapter, sql } from 'kysely'

// biome-ignore lint/suspicious/noExplicitAny: a migration uses the schema of its time, which has no type today
export type AnyDb = Kysely<any>

export const isPostgresDb = (db: AnyDb): boolean => db.getExecutor().adapter instanceof PostgresAdapter

/** Starts a table with an ascending 64-bit `id` that is never reused. */
export function tableWithId(db: AnyDb, name: string): CreateTableBuilder<string, 'id'> {
  const table = db.schema.createTable(name)
  return isPostgresDb(db)
    ? table.addColumn('id', 'bigint', (column) => column.generatedByDefaultAsIdentity().primaryKey())
    : table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
}

/** Creates a unique or plain index on the rows that match `where` (both databases have partial indexes). */
export async function partialIndex(
  db: AnyDb,
  index: { name: string; table: string; columns: string; where: string; unique?: boolean },
): Promise<void> {
  await sql
    .raw(
      `create ${index.unique ? 'unique ' : ''}index ${index.name} on ${index.table} (${index.columns}) where ${index.where}`,
    )
    .execute(db)
}
