import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Accounts that the operator removes, until they are gone or the removal is canceled. */
export const accountRemovals: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'account_removals')
      .addColumn('account_id', 'bigint', (column) => column.notNull().unique().references('accounts.id'))
      .addColumn('operation_id', 'bigint')
      .addColumn('was_suspended', 'integer', (column) => column.notNull())
      .addColumn('asked_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addColumn('begun_at', 'bigint')
      .execute()
  },
}
