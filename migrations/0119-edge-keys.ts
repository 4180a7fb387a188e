import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/**
 * Private keys of certificates, and keys of TLS sessions, sealed for edges without the master key. Earlier versions of
 * edges continue with their own column and table.
 */
export const edgeKeys: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('certificates').addColumn('edge_key', 'text').execute()
    await db.schema
      .createTable('edge_ticket_keys')
      .addColumn('slot', 'bigint', (column) => column.primaryKey())
      .addColumn('ticket_key', 'text', (column) => column.notNull())
      .execute()
  },
}
