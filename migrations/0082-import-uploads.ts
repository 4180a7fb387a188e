import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Files that are uploaded for an import, and how much of each has arrived. */
export const importUploads: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('imports').addColumn('uploads', 'text').execute()
  },
}
