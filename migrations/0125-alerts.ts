import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Alerts, the choices and mutes of people, and the messages to each of them. */
export const alerts: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'alerts')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('subject', 'text', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('began_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .addColumn('is_new', 'integer', (column) => column.notNull())
      .execute()
    const table = 'alerts'
    const open = { name: 'alerts_open', table, columns: 'site_id, kind, subject', unique: true }
    await partialIndex(db, { ...open, where: 'ended_at is null' })
    await partialIndex(db, { name: 'alerts_new', table, columns: 'id', where: 'is_new = 1' })
    await db.schema.createIndex('alerts_site').on(table).columns(['site_id', 'id']).execute()
    await db.schema.createIndex('alerts_cause').on(table).columns(['site_id', 'kind', 'subject', 'id']).execute()
    await db.schema.createIndex('alerts_ended').on(table).column('ended_at').execute()
    await db.schema
      .createTable('alert_settings')
      .addColumn('account_id', 'bigint', (column) => column.primaryKey())
      .addColumn('choices', 'text', (column) => column.notNull())
      .addColumn('mail_shared_sites', 'integer', (column) => column.notNull())
      .addColumn('read_to', 'bigint', (column) => column.notNull())
      .addColumn('mailed_at', 'bigint')
      .execute()
    await tableWithId(db, 'alert_mutes')
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('site_id', 'bigint')
      .addColumn('kind', 'text')
      .addColumn('until', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('alert_mutes_account').on('alert_mutes').columns(['account_id', 'id']).execute()
    await db.schema.createIndex('alert_mutes_site').on('alert_mutes').column('site_id').execute()
    await db.schema.createIndex('alert_mutes_until').on('alert_mutes').column('until').execute()
    await notices(db)
    // Sites that are down at this moment. Their owners knew it before.
    await sql`insert into alerts (site_id, kind, subject, detail, began_at, is_new)
      select site_id, 'site_down', '', detail, began_at, 0 from site_incidents where ended_at is null`.execute(db)
  },
}

async function notices(db: AnyDb): Promise<void> {
  await db.schema
    .createTable('alert_notices')
    .addColumn('alert_id', 'bigint', (column) => column.notNull())
    .addColumn('account_id', 'bigint', (column) => column.notNull())
    .addColumn('chat_id', 'bigint', (column) => column.notNull())
    .addColumn('event', 'text', (column) => column.notNull())
    .addColumn('due_at', 'bigint')
    .addColumn('sent_at', 'bigint')
    .addPrimaryKeyConstraint('alert_notices_pk', ['alert_id', 'account_id', 'chat_id', 'event'])
    .execute()
  const due = { name: 'alert_notices_due', table: 'alert_notices', columns: 'chat_id, account_id, due_at' }
  await partialIndex(db, { ...due, where: 'due_at is not null' })
  await db.schema.createIndex('alert_notices_account').on('alert_notices').column('account_id').execute()
}
