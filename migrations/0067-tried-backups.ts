import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Of a database backup: 1 when Stead has loaded it once and compared it with what it says. Of all: what a backup lacks, in words. */
export const triedBackups: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('backups')
      .addColumn('tried_out', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('backups').addColumn('warning', 'text').execute()
  },
}
