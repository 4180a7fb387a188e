import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** Monthly reports for the clients of an agency, and daily counts of what is deleted before a month ends. */
export const clientReports: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('client_reports')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('month', 'integer', (column) => column.notNull())
      .addColumn('contents', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('client_reports_pk', ['site_id', 'month'])
      .execute()
    await db.schema.createIndex('client_reports_month').on('client_reports').column('month').execute()
    await db.schema
      .createTable('client_report_days')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('files', 'integer', (column) => column.notNull())
      .addColumn('databases', 'integer', (column) => column.notNull())
      .addColumn('proven', 'integer', (column) => column.notNull())
      .addColumn('not_proven', 'integer', (column) => column.notNull())
      .addColumn('changes', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('client_report_days_pk', ['site_id', 'day'])
      .execute()
    await db.schema.createIndex('client_report_days_day').on('client_report_days').column('day').execute()
    await db.schema
      .createTable('client_report_clock')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('first_day', 'integer', (column) => column.notNull())
      .addColumn('last_day', 'integer', (column) => column.notNull())
      .execute()
    await partialIndex(db, {
      ...{ name: 'backups_completed', table: 'backups', columns: 'completed_at' },
      where: 'completed_at is not null',
    })
  },
}
