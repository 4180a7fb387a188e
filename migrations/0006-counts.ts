import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** Each creation counts sites by account and by host, from indexes only, without reading the sites. */
export const counts: Migration = {
  async up(db: AnyDb) {
    const where = 'deleted_at is null'
    await partialIndex(db, { name: 'sites_usage', table: 'sites', columns: 'account_id, staging', where })
    await partialIndex(db, { name: 'sites_on_host', table: 'sites', columns: 'host_id', where })
  },
}
