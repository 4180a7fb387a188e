import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/**
 * The account that requested an operation. Its rights are checked again before each step. Stead's own operations have
 * none.
 */
export const askedBy: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('operations').addColumn('asked_by_id', 'bigint').execute()
  },
}
