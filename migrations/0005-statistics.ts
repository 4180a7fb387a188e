import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Page views of sites by day, the day's visitors, and the sums that the API shows. */
export const statistics: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('page_view_days')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('views', 'bigint', (column) => column.notNull())
      .addColumn('people', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('page_view_days_pk', ['site_id', 'day'])
      .execute()
    await db.schema
      .createTable('visitor_days')
      .addColumn('day', 'integer', (column) => column.primaryKey())
      .addColumn('salt', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('visitors')
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('visitor', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('visitors_pk', ['day', 'site_id', 'visitor'])
      .execute()
    await db.schema
      .createTable('site_statistics')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('page_views', 'text', (column) => column.notNull())
      .addColumn('database_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('file_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
      .addColumn('refreshed_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('account_statistics')
      .addColumn('account_id', 'bigint', (column) => column.primaryKey())
      .addColumn('page_views', 'text', (column) => column.notNull())
      .addColumn('refreshed_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
