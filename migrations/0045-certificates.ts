import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Host names that need a certificate, the results of their orders, and the TLS state that edge processes share. */
export const certificates: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('certificates')
      .addColumn('host_name', 'text', (column) => column.primaryKey())
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('force_tls', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('wanted_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('not_before', 'bigint')
      .addColumn('operation_id', 'bigint')
      .addColumn('failures', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('reason', 'text')
      .addColumn('reason_at', 'bigint')
      .addColumn('order_url', 'text')
      .addColumn('order_key', 'text')
      .addColumn('authz_url', 'text')
      .addColumn('authz_expires_at', 'bigint')
      .addColumn('challenge_token', 'text')
      .addColumn('challenge_answer', 'text')
      .addColumn('chain', 'text')
      .addColumn('private_key', 'text')
      .addColumn('issued_at', 'bigint')
      .addColumn('expires_at', 'bigint')
      .execute()
    await db.schema.createIndex('certificates_of_site').on('certificates').column('site_id').execute()
    await db.schema.createIndex('certificates_due').on('certificates').column('due_at').execute()
    await db.schema
      .createTable('acme_accounts')
      .addColumn('directory', 'text', (column) => column.primaryKey())
      .addColumn('private_key', 'text', (column) => column.notNull())
      .addColumn('url', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('tls_ticket_keys')
      .addColumn('slot', 'bigint', (column) => column.primaryKey())
      .addColumn('ticket_key', 'text', (column) => column.notNull())
      .execute()
  },
}
