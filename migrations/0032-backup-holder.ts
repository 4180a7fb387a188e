import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Which copy of an installation changes the backups: what was restored from them is another one than what was lost. */
export const leaseHolder: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('backup_key').addColumn('holder', 'text').execute()
  },
}
