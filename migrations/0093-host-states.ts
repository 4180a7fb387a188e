import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The state that the operator set for a host, and when. */
export const hostStates: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('hosts')
      .addColumn('state', 'text', (column) => column.notNull().defaultTo('active'))
      .execute()
    await db.schema.alterTable('hosts').addColumn('state_at', 'bigint').execute()
  },
}
