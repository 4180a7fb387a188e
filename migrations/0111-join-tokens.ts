import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Tokens with which a machine joins the installation, each for one role, one name, and one key. */
export const joinTokens: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('join_tokens')
      .addColumn('hash', 'text', (column) => column.primaryKey())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('expires_at', 'bigint', (column) => column.notNull())
      .addColumn('used_by', 'text')
      .execute()
    await db.schema.createIndex('join_tokens_expires').on('join_tokens').column('expires_at').execute()
  },
}
