import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** A session counts only at the panel's origin where it began. People with older sessions sign in again. */
export const sessionOrigin: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('sessions')
      .addColumn('origin', 'text', (column) => column.notNull().defaultTo(''))
      .execute()
  },
}
