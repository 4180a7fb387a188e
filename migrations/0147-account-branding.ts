import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The name, color, and logo that an account shows to its clients. */
export const accountBranding: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('account_branding')
      .addColumn('account_id', 'bigint', (column) => column.primaryKey().references('accounts.id'))
      .addColumn('name', 'text')
      .addColumn('color', 'text')
      .addColumn('logo', 'text')
      .addColumn('logo_type', 'text')
      .addColumn('reply_to', 'text')
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
