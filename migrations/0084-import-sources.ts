import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The running old site that an import fetches from, and the sealed credentials for it. */
export const importSources: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('imports').addColumn('live_source', 'text').execute()
    await db.schema.alterTable('imports').addColumn('live_secret', 'text').execute()
  },
}
