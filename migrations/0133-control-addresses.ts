import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Addresses at which controls listen for other machines of the installation. */
export const controlAddresses: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('control_addresses')
      .addColumn('address', 'text', (column) => column.primaryKey())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .execute()
  },
}
