import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Domains of another account for which an account proved control, until they move. */
export const zoneClaims: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'zone_claims')
      .addColumn('zone', 'text', (column) => column.notNull())
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('holder_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('host_name', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('moves_at', 'bigint', (column) => column.notNull())
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .execute()
    const unique = db.schema.createIndex('zone_claims_of_account').on('zone_claims').unique()
    await unique.columns(['account_id', 'zone']).execute()
    await db.schema.createIndex('zone_claims_due').on('zone_claims').column('due_at').execute()
    await db.schema.createIndex('zone_claims_of_site').on('zone_claims').column('site_id').execute()
  },
}
