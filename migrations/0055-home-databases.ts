import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Which kind of database a home has. */
export const homeDatabases: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('site_homes')
      .addColumn('database', 'text', (column) => column.notNull().defaultTo('sqlite'))
      .execute()
  },
}
