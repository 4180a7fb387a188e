import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Automatic security releases of WordPress, and the PHP that a release needs. */
export const automaticUpdates: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('accounts')
      .addColumn('automatic_updates', 'integer', (column) => column.notNull().defaultTo(1))
      .execute()
    await db.schema.alterTable('core_releases').addColumn('php_version', 'text').execute()
    await db.schema
      .alterTable('core_releases')
      .addColumn('offered', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema
      .createTable('failed_updates')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('again_at', 'bigint')
      .addColumn('failed_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
