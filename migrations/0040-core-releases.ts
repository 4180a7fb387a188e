import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Releases of WordPress that hosts know of. */
export const coreReleases: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('core_releases')
      .addColumn('version', 'text', (column) => column.primaryKey())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
