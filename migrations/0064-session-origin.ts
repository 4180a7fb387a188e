import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** A session counts at the address of the panel where it began. People whose session is older sign in again. */
export const sessionOrigin: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('sessions')
      .addColumn('origin', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}
