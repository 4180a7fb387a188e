import { PostgresAdapter } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Must-use plugins of accounts, the versions of their files, and the sites that have one. */
export const mustUsePlugins: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'mu_plugins')
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('path', 'text', (column) => column.notNull())
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('existing_sites', 'integer', (column) => column.notNull())
      .addColumn('future_sites', 'integer', (column) => column.notNull())
      .addColumn('sha256', 'text')
      .addColumn('operation_id', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint')
      .execute()
    await partialIndex(db, {
      name: 'mu_plugins_of_account',
      table: 'mu_plugins',
      columns: 'account_id, lower(slug)',
      where: 'deleted_at is null',
      unique: true,
    })
    await partialIndex(db, {
      name: 'mu_plugins_deleted',
      table: 'mu_plugins',
      columns: 'id',
      where: 'deleted_at is not null',
    })
    const bytes = db.getExecutor().adapter instanceof PostgresAdapter ? 'bytea' : 'blob'
    await tableWithId(db, 'mu_plugin_contents')
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('sha256', 'text', (column) => column.notNull())
      .addColumn('content', bytes)
      .addColumn('used_at', 'bigint')
      .addUniqueConstraint('mu_plugin_contents_once', ['account_id', 'slug', 'sha256'])
      .execute()
    await db.schema
      .createTable('mu_plugin_sites')
      .addColumn('plugin_id', 'bigint', (column) => column.notNull().references('mu_plugins.id'))
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('mu_plugin_sites_pk', ['plugin_id', 'site_id'])
      .execute()
    await db.schema.createIndex('mu_plugin_sites_of_site').on('mu_plugin_sites').column('site_id').execute()
  },
}
