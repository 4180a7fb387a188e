import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Lighthouse reports on the front pages of sites. */
export const performanceReports: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'performance_reports')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('desktop', 'text', (column) => column.notNull())
      .addColumn('mobile', 'text', (column) => column.notNull())
      .addColumn('desktop_thumbnail', 'text')
      .addColumn('mobile_thumbnail', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createIndex('performance_reports_of_site')
      .on('performance_reports')
      .columns(['site_id', 'id'])
      .execute()
    await db.schema
      .createTable('performance_attempts')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('attempted_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
