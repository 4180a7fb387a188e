import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** Sites are counted at each creation, by account and by host: from indexes alone, without reading the sites. */
export const counts: Migration = {
  async up(db: AnyDb) {
    const where = 'deleted_at is null'
    await partialIndex(db, { name: 'sites_usage', table: 'sites', columns: 'account_id, staging', where })
    await partialIndex(db, { name: 'sites_on_host', table: 'sites', columns: 'host_id', where })
  },
}
