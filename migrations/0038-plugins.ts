import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The last known plugins of sites, their running changes, and results of operations on several parts of a site. */
export const plugins: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('plugin_lists')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('plugins', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('plugin_changes')
      .addColumn('operation_id', 'bigint', (column) =>
        column.primaryKey().references('operations.id').onDelete('cascade'),
      )
      .addColumn('path', 'text', (column) => column.notNull())
      .addColumn('folder', 'text')
      .addColumn('active', 'text', (column) => column.notNull())
      .execute()
    // SQLite cannot change a primary key.
    await db.schema.alterTable('operation_results').renameTo('operation_results_before').execute()
    await db.schema
      .createTable('operation_results')
      .addColumn('operation_id', 'bigint', (column) => column.notNull().references('operations.id').onDelete('cascade'))
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('message', 'text')
      .addColumn('follow_up_id', 'bigint')
      .addPrimaryKeyConstraint('operation_results_key', ['operation_id', 'site_id', 'subject'])
      .execute()
    await sql`insert into operation_results (operation_id, site_id, subject, outcome, message, follow_up_id)
      select operation_id, site_id, '', outcome, message, follow_up_id from operation_results_before`.execute(db)
    await db.schema.dropTable('operation_results_before').execute()
  },
}
