import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The operation that has closed a site to everybody while it works on it; it counts as long as that has not ended. */
export const closedSites: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('sites').addColumn('closed_by', 'bigint').execute()
  },
}
