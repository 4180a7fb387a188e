import { type CreateTableBuilder, type Kysely, PostgresAdapter, sql } from 'kysely'

// biome-ignore lint/suspicious/noExplicitAny: a migration sees the schema of its own day, which has no type any more
export type AnyDb = Kysely<any>

export const isPostgresDb = (db: AnyDb): boolean => db.getExecutor().adapter instanceof PostgresAdapter

/** Starts a table with an ascending 64-bit `id` that is never given out twice. */
export function tableWithId(db: AnyDb, name: string): CreateTableBuilder<string, 'id'> {
  const table = db.schema.createTable(name)
  return isPostgresDb(db)
    ? table.addColumn('id', 'bigint', (column) => column.generatedByDefaultAsIdentity().primaryKey())
    : table.addColumn('id', 'integer', (column) => column.primaryKey().autoIncrement())
}

/** A unique or plain index over the rows that fulfil `where` (both databases have partial indexes). */
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
