import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** When a person paused an operation. */
export const pausedOperations: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('operations').addColumn('paused_at', 'bigint').execute()
  },
}
