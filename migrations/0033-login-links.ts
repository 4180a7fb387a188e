import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Links that log a browser in to a site's WordPress once, and whether an account's sites have them. */
export const loginLinks: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('accounts')
      .addColumn('one_time_login', 'integer', (column) => column.notNull().defaultTo(1))
      .execute()
    await tableWithId(db, 'login_links')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('login', 'text', (column) => column.notNull())
      .addColumn('user_agent', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('used_at', 'bigint')
      .execute()
    await db.schema.createIndex('login_links_of_site').on('login_links').columns(['site_id', 'id']).execute()
  },
}
