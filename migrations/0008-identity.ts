import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Database, hosts and data folders identify each other. See docs/design/identity.md. */
export const identity: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('installation')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('identity', 'text', (column) => column.notNull())
      .addColumn('key_mark', 'text')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.alterTable('hosts').addColumn('identity', 'text').execute()
    await db.schema
      .alterTable('hosts')
      .addColumn('epoch', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.createIndex('hosts_identity').on('hosts').column('identity').unique().execute()
    await db.schema.alterTable('sites').addColumn('lost_at', 'bigint').execute()
  },
}
