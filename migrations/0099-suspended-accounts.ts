import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** When the operator suspended an account, or null if it is not suspended. */
export const suspendedAccounts: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('accounts').addColumn('suspended_at', 'bigint').execute()
  },
}
