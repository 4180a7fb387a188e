import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/**
 * When sites are updated safely without a request: policies of sites, the defaults of accounts, the next turn of each
 * site, and the versions that were undone.
 */
export const updatePolicies: Migration = {
  async up(db: AnyDb) {
    for (const [table, key] of [
      ['account_update_policies', 'account_id'],
      ['site_update_policies', 'site_id'],
    ] as const)
      await db.schema
        .createTable(table)
        .addColumn(key, 'bigint', (column) => column.primaryKey().notNull())
        .addColumn('mode', 'text', (column) => column.notNull())
        .addColumn('weekday', 'text', (column) => column.notNull())
        .addColumn('hour', 'integer', (column) => column.notNull())
        .addColumn('time_zone', 'text', (column) => column.notNull())
        .addColumn('exclude', 'text', (column) => column.notNull())
        .execute()
    await db.schema
      .createTable('update_turns')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey().notNull())
      .addColumn('slot_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('update_turns_due').on('update_turns').column('due_at').execute()
    await db.schema
      .createTable('undone_updates')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('operation_id', 'bigint', (column) => column.notNull())
      .addColumn('undone_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('undone_updates_pk', ['site_id', 'kind', 'slug'])
      .execute()
    await db.schema
      .alterTable('safe_updates')
      .addColumn('by_policy', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
