import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The key that seals all backups, itself sealed with the master key. One row. */
export const backupKey: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('backup_key')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('sealed', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
