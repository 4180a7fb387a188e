import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/**
 * The monitoring of sites: what edges find, how often they asked on each day, what a control concludes for each site,
 * and the incidents.
 */
export const monitoring: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('monitoring_edges')
      .addColumn('edge', 'text', (column) => column.primaryKey())
      .addColumn('seen_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema
      .createTable('monitoring_states')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('edge', 'text', (column) => column.notNull())
      .addColumn('host_name', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('since', 'bigint', (column) => column.notNull())
      .addColumn('is_new', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('monitoring_states_pk', ['site_id', 'edge'])
      .execute()
    await db.schema.createIndex('monitoring_states_edge').on('monitoring_states').columns(['edge', 'site_id']).execute()
    const fresh = { name: 'monitoring_states_new', table: 'monitoring_states', columns: 'site_id' }
    await partialIndex(db, { ...fresh, where: 'is_new = 1' })
    await db.schema
      .createTable('uptime_days')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('day', 'integer', (column) => column.notNull())
      .addColumn('asked', 'integer', (column) => column.notNull())
      .addColumn('slow', 'integer', (column) => column.notNull())
      .addColumn('failed', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('uptime_days_pk', ['site_id', 'day'])
      .execute()
    await db.schema.createIndex('uptime_days_day').on('uptime_days').column('day').execute()
    await db.schema
      .createTable('site_monitoring')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('since', 'bigint', (column) => column.notNull())
      .execute()
    const bad = { name: 'site_monitoring_bad', table: 'site_monitoring', columns: 'site_id' }
    await partialIndex(db, { ...bad, where: `state in ('down', 'slow')` })
    await tableWithId(db, 'site_incidents')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('reason', 'text', (column) => column.notNull())
      .addColumn('detail', 'text', (column) => column.notNull())
      .addColumn('began_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .execute()
    await db.schema.createIndex('site_incidents_site').on('site_incidents').columns(['site_id', 'id']).execute()
    await db.schema.createIndex('site_incidents_ended').on('site_incidents').column('ended_at').execute()
    const open = { name: 'site_incidents_open', table: 'site_incidents', columns: 'site_id', unique: true }
    await partialIndex(db, { ...open, where: 'ended_at is null' })
  },
}
