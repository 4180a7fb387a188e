import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The type of a site directory's database. */
export const homeDatabases: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('site_homes')
      .addColumn('database', 'text', (column) => column.notNull().defaultTo('sqlite'))
      .execute()
  },
}
