import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** A host stores how many sites it had at its last report, so that a creation counts only later ones. */
export const hostCounts: Migration = {
  async up(db: AnyDb) {
    for (const column of ['counted_sites', 'counted_to'])
      await db.schema
        .alterTable('hosts')
        .addColumn(column, 'bigint', (definition) => definition.notNull().defaultTo(0))
        .execute()
    await db.schema.dropIndex('sites_on_host').execute()
    await db.schema.dropIndex('sites_host').execute()
    const where = 'deleted_at is null'
    await partialIndex(db, { name: 'sites_of_host', table: 'sites', columns: 'host_id, id', where })
  },
}
