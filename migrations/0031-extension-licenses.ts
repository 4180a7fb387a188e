import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Licenses of sites for extensions, at most one for each site. */
export const extensionLicenses: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'extension_licenses')
      .addColumn('site_id', 'bigint', (column) => column.notNull().unique())
      .addColumn('license_key', 'text', (column) => column.notNull())
      .addColumn('issued_at', 'bigint', (column) => column.notNull())
      .addColumn('revoked_at', 'bigint')
      .execute()
  },
}
