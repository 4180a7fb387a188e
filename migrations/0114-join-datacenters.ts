import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The datacenters of a host that joins with a token, as codes with commas. Null means all. */
export const joinDatacenters: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('join_tokens').addColumn('datacenters', 'text').execute()
  },
}
