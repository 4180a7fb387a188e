import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/**
 * For database backups: 1 when Stead has loaded the backup once and compared it with its description. For all: what a
 * backup lacks, in words.
 */
export const triedBackups: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('backups')
      .addColumn('tried_out', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('backups').addColumn('warning', 'text').execute()
  },
}
