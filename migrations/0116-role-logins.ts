import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** Logins of PostgreSQL that belong to one machine each. */
export const roleLogins: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('role_logins')
      .addColumn('login', 'text', (column) => column.primaryKey())
      .addColumn('role', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addUniqueConstraint('role_logins_owner', ['role', 'name'])
      .execute()
  },
}
