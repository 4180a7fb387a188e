import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** How large the logo of an account is, so that the panel has its place before the picture arrives. */
export const logoSizes: Migration = {
  async up(db: AnyDb) {
    for (const column of ['logo_width', 'logo_height'])
      await db.schema.alterTable('account_branding').addColumn(column, 'integer').execute()
  },
}
