import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Passkeys, with which people sign in instead of a password. */
export const passkeys: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'passkeys')
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('credential_id', 'text', (column) => column.notNull().unique())
      .addColumn('host_name', 'text', (column) => column.notNull())
      .addColumn('public_key', 'text', (column) => column.notNull())
      .addColumn('counter', 'bigint', (column) => column.notNull())
      .addColumn('transports', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .execute()
    await db.schema.createIndex('passkeys_account').on('passkeys').column('account_id').execute()
    await db.schema
      .createTable('spent_challenges')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('spent_challenges_expiry').on('spent_challenges').column('expires_at').execute()
  },
}
