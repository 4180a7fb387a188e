import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Imports of sites from other hosts into existing sites. */
export const imports: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'imports')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('sources', 'text', (column) => column.notNull())
      .addColumn('starts', 'integer', (column) => column.notNull())
      .addColumn('plan', 'text')
      .addColumn('comparison', 'text')
      .addColumn('error', 'text')
      .addColumn('operation_id', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('imports_of_site').on('imports').columns(['site_id', 'id']).execute()
    await db.schema.createIndex('imports_by_end').on('imports').columns(['expires_at']).execute()
  },
}
