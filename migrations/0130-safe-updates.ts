import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Reports of safe updates, by their operations, and the pictures of pages that differ. */
export const safeUpdates: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('safe_updates')
      .addColumn('operation_id', 'bigint', (column) => column.primaryKey())
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('items', 'text', (column) => column.notNull())
      .addColumn('pages', 'text', (column) => column.notNull())
      .addColumn('logged', 'text', (column) => column.notNull())
      .addColumn('no_pictures', 'text')
      .addColumn('changing', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .execute()
    await db.schema.createIndex('safe_updates_site').on('safe_updates').columns(['site_id', 'operation_id']).execute()
    await db.schema.createIndex('safe_updates_created').on('safe_updates').column('created_at').execute()
    await db.schema
      .createTable('safe_update_pictures')
      .addColumn('operation_id', 'bigint', (column) => column.notNull())
      .addColumn('page', 'integer', (column) => column.notNull())
      .addColumn('width', 'integer', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('picture', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('safe_update_pictures_pk', ['operation_id', 'page', 'width', 'kind'])
      .execute()
  },
}
