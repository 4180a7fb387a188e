import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Sign-in to the control panel: passwords, second factors, sessions. */
export const signIn: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('passwords')
      .addColumn('account_id', 'bigint', (column) => column.primaryKey().references('accounts.id'))
      .addColumn('hash', 'text', (column) => column.notNull())
      .addColumn('set_at', 'bigint', (column) => column.notNull())
      .execute()
    await tableWithId(db, 'sessions')
      .addColumn('token_hash', 'text', (column) =>
        column.notNull().unique().references('tokens.hash').onDelete('cascade'),
      )
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .addColumn('proven_at', 'bigint', (column) => column.notNull())
      .addColumn('user_agent', 'text', (column) => column.notNull())
      .addColumn('ip_address', 'text', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('sessions_account').on('sessions').column('account_id').execute()
    await db.schema
      .createTable('password_links')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('password_links_account').on('password_links').column('account_id').execute()
    await db.schema.createIndex('password_links_expiry').on('password_links').column('expires_at').execute()
    await db.schema
      .createTable('sign_in_attempts')
      .addColumn('key', 'text', (column) => column.primaryKey())
      .addColumn('count', 'integer', (column) => column.notNull())
      .addColumn('last_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('sign_in_attempts_last').on('sign_in_attempts').column('last_at').execute()
    await db.schema
      .createTable('totp_secrets')
      .addColumn('account_id', 'bigint', (column) => column.primaryKey().references('accounts.id'))
      .addColumn('secret', 'text', (column) => column.notNull())
      .addColumn('confirmed_at', 'bigint')
      .addColumn('last_step', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('recovery_codes')
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('hash', 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('recovery_codes_key', ['account_id', 'hash'])
      .execute()
  },
}
