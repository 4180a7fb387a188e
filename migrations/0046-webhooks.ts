import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Numbers events in the order of commits. Adds webhooks, their pending deliveries, and each attempt. */
export const webhooks: Migration = {
  async up(db: AnyDb) {
    await numbers(db)
    await tableWithId(db, 'webhooks')
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('url', 'text', (column) => column.notNull())
      .addColumn('description', 'text', (column) => column.notNull())
      .addColumn('event_types', 'text')
      .addColumn('all_sites', 'integer', (column) => column.notNull())
      .addColumn('enabled', 'integer', (column) => column.notNull())
      .addColumn('disabled_reason', 'text')
      .addColumn('secret_sealed', 'text', (column) => column.notNull())
      .addColumn('old_secret_sealed', 'text')
      .addColumn('old_secret_until', 'bigint')
      .addColumn('from_seq', 'bigint', (column) => column.notNull())
      .addColumn('failing_since', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('webhooks_account').on('webhooks').columns(['account_id', 'id']).execute()
    await db.schema
      .createTable('webhook_sites')
      .addColumn('webhook_id', 'bigint', (column) => column.notNull().references('webhooks.id').onDelete('cascade'))
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('webhook_sites_key', ['webhook_id', 'site_id'])
      .execute()
    await db.schema.createIndex('webhook_sites_site').on('webhook_sites').column('site_id').execute()
    await deliveries(db)
  },
}

async function numbers(db: AnyDb): Promise<void> {
  const alter = () => db.schema.alterTable('events')
  await alter().addColumn('seq', 'bigint').execute()
  await alter()
    .addColumn('mark', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await sql`update events set seq = id`.execute(db)
  await db.schema.createIndex('events_seq').on('events').column('seq').unique().execute()
  await db.schema.createIndex('events_account_seq').on('events').columns(['account_id', 'seq']).execute()
  // Row 1. The transaction that locks it gets the next number until its commit, so that numbers become visible in
  // order.
  await db.schema
    .createTable('event_clock')
    .addColumn('id', 'integer', (column) => column.primaryKey())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .execute()
  // The other row is separate, so that distributing deliveries does not block commits.
  for (const id of [1, 2])
    await sql`insert into event_clock (id, seq) select cast(${id} as integer), coalesce(max(id), 0) from events`.execute(
      db,
    )
}

async function deliveries(db: AnyDb): Promise<void> {
  await tableWithId(db, 'webhook_deliveries')
    .addColumn('webhook_id', 'bigint', (column) => column.notNull().references('webhooks.id').onDelete('cascade'))
    .addColumn('event_id', 'bigint', (column) => column.references('events.id').onDelete('cascade'))
    .addColumn('site_id', 'bigint')
    .addColumn('message_id', 'text', (column) => column.notNull())
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('line', 'bigint')
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('attempts', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('due_at', 'bigint')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', 'bigint')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('finished_at', 'bigint')
    .execute()
  await db.schema
    .createIndex('webhook_deliveries_webhook')
    .on('webhook_deliveries')
    .columns(['webhook_id', 'id'])
    .execute()
  await db.schema.createIndex('webhook_deliveries_event').on('webhook_deliveries').column('event_id').execute()
  await partialIndex(db, {
    name: 'webhook_deliveries_due',
    table: 'webhook_deliveries',
    columns: 'due_at',
    where: 'due_at is not null',
  })
  await partialIndex(db, {
    name: 'webhook_deliveries_line',
    table: 'webhook_deliveries',
    columns: 'webhook_id, line, id',
    where: "line is not null and state in ('pending', 'waiting')",
  })
  await db.schema
    .createTable('webhook_attempts')
    .addColumn('delivery_id', 'bigint', (column) =>
      column.notNull().references('webhook_deliveries.id').onDelete('cascade'),
    )
    .addColumn('number', 'integer', (column) => column.notNull())
    .addColumn('started_at', 'bigint', (column) => column.notNull())
    .addColumn('duration_ms', 'bigint', (column) => column.notNull())
    .addColumn('status', 'integer')
    .addColumn('answer', 'text', (column) => column.notNull())
    .addColumn('error', 'text')
    .addPrimaryKeyConstraint('webhook_attempts_key', ['delivery_id', 'number'])
    .execute()
}
