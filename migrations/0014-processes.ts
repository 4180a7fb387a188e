import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Hosts and edges report the usage of their budgets, so that the API's `/metrics` can show all processes. */
export const processes: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('processes')
      .addColumn('id', 'text', (column) => column.primaryKey())
      .addColumn('part', 'text', (column) => column.notNull())
      .addColumn('facts', 'text', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
