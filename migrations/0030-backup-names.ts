import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** What a backup is called in the storage. Those from before have none: `b` and their number. */
export const backupNames: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('backups').addColumn('name', 'text').execute()
  },
}
