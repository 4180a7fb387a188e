import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The damage of a backup in the storage, in words. */
export const damagedBackups: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('backups').addColumn('damage', 'text').execute()
  },
}
