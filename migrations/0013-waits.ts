import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** An operation that waits a length of time says since when: a clock that is set back does not lengthen it. */
export const waits: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('operations').addColumn('waits_since', 'bigint').execute()
  },
}
