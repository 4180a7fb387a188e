import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Certificate authorities of the installation itself, one for each domain that no public authority knows. */
export const localAuthorities: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('local_authorities')
      .addColumn('domain', 'text', (column) => column.primaryKey())
      .addColumn('certificate', 'text', (column) => column.notNull())
      .addColumn('private_key', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
