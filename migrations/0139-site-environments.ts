import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Sites that are environments of a live site, and since when the databases of both may differ. */
export const siteEnvironments: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('site_environments')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('live_site_id', 'bigint', (column) => column.notNull())
      .addColumn('linked_at', 'bigint', (column) => column.notNull())
      .addColumn('copied_at', 'bigint')
      .addColumn('level_at', 'bigint')
      .addColumn('level_before', 'bigint')
      .addColumn('level_operation_id', 'bigint')
      .execute()
    await db.schema.createIndex('site_environments_live').on('site_environments').column('live_site_id').execute()
  },
}
