import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** An operation that waits stores since when it has waited, so that a clock set back does not lengthen the wait. */
export const waits: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('operations').addColumn('waits_since', 'bigint').execute()
  },
}
