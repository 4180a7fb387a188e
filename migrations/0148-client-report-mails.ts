import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Recipients of the client reports of a site, and the mails that were sent. */
export const clientReportMails: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('client_report_settings')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('recipients', 'text', (column) => column.notNull())
      .addColumn('sent_month', 'integer', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
    const due = db.schema.createIndex('client_report_settings_due').on('client_report_settings')
    await due.columns(['sent_month', 'site_id']).execute()
    await db.schema
      .createTable('client_report_mails')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('month', 'integer', (column) => column.notNull())
      .addColumn('address', 'text', (column) => column.notNull())
      .addColumn('requested_at', 'bigint', (column) => column.notNull())
      .addColumn('sent_at', 'bigint')
      .addColumn('fault', 'text')
      .addPrimaryKeyConstraint('client_report_mails_pk', ['site_id', 'month', 'address'])
      .execute()
    await db.schema.createIndex('client_report_mails_month').on('client_report_mails').column('month').execute()
  },
}
