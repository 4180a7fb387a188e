import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Sites that start without their plugins, and when an owner last got a link to WordPress' recovery mode. */
export const safeMode: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('sites')
      .addColumn('safe_mode', 'integer', (definition) => definition.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('sites').addColumn('recovery_told_at', 'bigint').execute()
  },
}
