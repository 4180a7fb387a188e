import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Columns and indexes that count what an account stores, and find expired rows. */
export const bounds: Migration = {
  async up(db: AnyDb) {
    await idempotencyKeys(db)
    await notes(db)
    await mails(db)
    await retention(db)
  },
}

/** An idempotency key stores its owner and its size, so that an index can sum both up. */
async function idempotencyKeys(db: AnyDb): Promise<void> {
  const alter = () => db.schema.alterTable('idempotency_keys')
  await alter()
    .addColumn('claim', 'text', (column) => column.notNull().defaultTo(''))
    .execute()
  await alter()
    .addColumn('size_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await db.schema
    .createIndex('idempotency_keys_size')
    .on('idempotency_keys')
    .columns(['application_id', 'size_bytes'])
    .execute()
}

async function notes(db: AnyDb): Promise<void> {
  await db.schema
    .alterTable('notes')
    .addColumn('size_bytes', 'bigint', (column) => column.notNull().defaultTo(0))
    .execute()
  await sql`update notes set size_bytes = octet_length(subject) + octet_length(body)`.execute(db)
  await db.schema.createIndex('notes_size').on('notes').columns(['site_id', 'size_bytes']).execute()
}

/** Mails that were requested in the last hours, to limit the mails to one person. */
async function mails(db: AnyDb): Promise<void> {
  await tableWithId(db, 'mail_counts')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('subject_hash', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('mail_counts_account').on('mail_counts').columns(['account_id', 'created_at']).execute()
  await db.schema.createIndex('mail_counts_address').on('mail_counts').columns(['address', 'created_at']).execute()
  await db.schema.createIndex('mail_counts_created').on('mail_counts').column('created_at').execute()
}

async function retention(db: AnyDb): Promise<void> {
  await db.schema.createIndex('events_created').on('events').column('created_at').execute()
  await partialIndex(db, {
    name: 'sites_deleted',
    table: 'sites',
    columns: 'deleted_at, id',
    where: 'deleted_at is not null',
  })
  await partialIndex(db, {
    name: 'operations_queued_of_account',
    table: 'operations',
    columns: 'account_id',
    where: "state = 'queued' and site_id is null",
  })
}
