import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** What edges must read again, by number instead of by clock. See `src/edge/routing/route-changes.store.ts`. */
export const routeChanges: Migration = {
  async up(db: AnyDb) {
    // One row. The transaction that locks it gets the next number until its commit, so that numbers become visible in
    // order.
    await db.schema
      .createTable('route_clock')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .execute()
    await db.insertInto('route_clock').values({ id: 1, seq: 0 }).execute()
    await db.schema
      .createTable('route_changes')
      .addColumn('seq', 'bigint', (column) => column.primaryKey())
      .addColumn('host_name', 'text')
      .addColumn('host_id', 'bigint')
      .execute()
    await db.schema.dropIndex('routes_changed').execute()
  },
}
