import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The positions of blocks in compressed archives, so that a download can resume in the middle. */
export const archiveLengths: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('archive_lengths')
      .addColumn('backup_id', 'bigint', (column) => column.primaryKey().references('backups.id').onDelete('cascade'))
      .addColumn('format', 'integer', (column) => column.notNull())
      .addColumn('blocks', 'integer', (column) => column.notNull())
      .addColumn('whole', 'integer', (column) => column.notNull())
      .addColumn('places', 'text', (column) => column.notNull())
      .execute()
  },
}
