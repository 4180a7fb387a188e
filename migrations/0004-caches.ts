import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** What edges need to purge stored pages and files. */
export const caches: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('sites')
      .addColumn('cdn_epoch', 'bigint', (column) => column.notNull().defaultTo(1))
      .execute()
    // One row. The transaction that locks it gets the next number until its commit, so that numbers become visible in
    // order.
    await db.schema
      .createTable('purge_clock')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .execute()
    await db.insertInto('purge_clock').values({ id: 1, seq: 0 }).execute()
    await db.schema
      .createTable('cache_purges')
      .addColumn('seq', 'bigint', (column) => column.primaryKey())
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('page_epoch', 'bigint')
      .addColumn('file_epoch', 'bigint')
      .addColumn('paths', 'text')
      .execute()
  },
}
