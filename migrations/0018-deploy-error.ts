import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Why a site could not be created. */
export const deployError: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('sites').addColumn('deploy_error', 'text').execute()
  },
}
