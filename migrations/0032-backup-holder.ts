import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The copy of an installation that writes the backups. A copy restored from them differs from the lost one. */
export const leaseHolder: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('backup_key').addColumn('holder', 'text').execute()
  },
}
