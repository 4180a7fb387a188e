import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The operation that has closed a site to visitors. It counts until the operation has ended. */
export const closedSites: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('sites').addColumn('closed_by', 'bigint').execute()
  },
}
