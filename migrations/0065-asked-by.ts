import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Which account asked for an operation: its rights are checked again before each step. Stead's own work has none. */
export const askedBy: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('operations').addColumn('asked_by_id', 'bigint').execute()
  },
}
