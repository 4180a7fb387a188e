import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The name of a backup in the storage. Earlier backups have none, and are named `b` and their ID. */
export const backupNames: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('backups').addColumn('name', 'text').execute()
  },
}
