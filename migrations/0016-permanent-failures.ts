import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Whether another attempt at an operation that failed would fail alike. */
export const permanentFailures: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('operations')
      .addColumn('is_permanent', 'integer', (definition) => definition.notNull().defaultTo(0))
      .execute()
  },
}
