import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** The previous content of changed zones, for secondaries that request only the difference. */
export const zoneChanges: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'zone_changes')
      .addColumn('zone_id', 'bigint', (column) => column.notNull().references('zones.id'))
      .addColumn('from_serial', 'bigint', (column) => column.notNull())
      .addColumn('to_serial', 'bigint', (column) => column.notNull())
      .addColumn('earlier', 'text', (column) => column.notNull())
      .addColumn('bytes', 'integer', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('zone_changes_of_zone').on('zone_changes').columns(['zone_id', 'from_serial']).execute()
    // A zone that is created again continues with the serial of its predecessor.
    await db.schema.createIndex('zones_by_name_ever').on('zones').columns(['name', 'serial']).execute()
    await db.schema
      .alterTable('zone_clock')
      .addColumn('generation', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.alterTable('zone_clock').addColumn('made_with', 'text').execute()
  },
}
