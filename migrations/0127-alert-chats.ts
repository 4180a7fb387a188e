import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Rooms of chat programs that get alerts, and faults of sites that hosts have counted. */
export const alertChats: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'alert_chats')
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('url_sealed', 'text', (column) => column.notNull())
      .addColumn('host', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('kinds', 'text')
      .addColumn('next_at', 'bigint', (column) => column.notNull())
      .addColumn('test_at', 'bigint')
      .addColumn('sent_at', 'bigint')
      .addColumn('failing_since', 'bigint')
      .addColumn('fault', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('alert_chats_account').on('alert_chats').columns(['account_id', 'id']).execute()
    await db.schema
      .createTable('site_faults')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('site_faults_pk', ['site_id', 'kind'])
      .execute()
    await db.schema.createIndex('site_faults_seen').on('site_faults').columns(['kind', 'seen_at']).execute()
  },
}
