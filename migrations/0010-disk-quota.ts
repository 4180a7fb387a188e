import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** When the owner of a site was last told that it could not write. */
export const diskQuota: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('site_homes').addColumn('disk_full_at', 'bigint').execute()
  },
}
