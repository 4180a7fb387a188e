import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Whether a retry of a failed operation would fail in the same way. */
export const permanentFailures: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('operations')
      .addColumn('is_permanent', 'integer', (definition) => definition.notNull().defaultTo(0))
      .execute()
  },
}
