import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** What every safe update of a site hides in pictures, and which pages it compares, too. Without a row: nothing. */
export const safeUpdateSettings: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('safe_update_settings')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('masks', 'text', (column) => column.notNull())
      .addColumn('paths', 'text', (column) => column.notNull())
      .execute()
  },
}
