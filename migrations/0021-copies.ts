import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Operations that wait for others, and how often the content of a site was replaced, for operations that copy it. */
export const copies: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('operation_waits')
      .addColumn('operation_id', 'bigint', (column) => column.notNull().references('operations.id').onDelete('cascade'))
      .addColumn('for_id', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('operation_waits_pk', ['operation_id', 'for_id'])
      .execute()
    await db.schema
      .alterTable('sites')
      .addColumn('content_changes', 'integer', (column) => column.notNull().defaultTo(sql`0`))
      .execute()
  },
}
