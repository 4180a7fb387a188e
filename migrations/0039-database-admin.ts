import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Links that open the database of a site in a browser, and the sessions that they begin. */
export const databaseAdmin: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'database_admin_links')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('token_hash', 'text', (column) => column.notNull().unique())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('session_hash', 'text', (column) => column.unique())
      .addColumn('user_agent', 'text')
      .addColumn('ends_at', 'bigint')
      .execute()
    await db.schema
      .createIndex('database_admin_links_of_site')
      .on('database_admin_links')
      .columns(['site_id', 'id'])
      .execute()
  },
}
