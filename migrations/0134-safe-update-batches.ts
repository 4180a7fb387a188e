import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** Safe updates of many sites, with the state of each site. The report of a site's update names its batch. */
export const safeUpdateBatches: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('safe_update_batches')
      .addColumn('operation_id', 'bigint', (column) => column.primaryKey())
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('wanted', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('ended_at', 'bigint')
      .execute()
    const batches = db.schema.createIndex('safe_update_batches_account').on('safe_update_batches')
    await batches.columns(['account_id', 'operation_id']).execute()
    await db.schema.createIndex('safe_update_batches_created').on('safe_update_batches').column('created_at').execute()
    await db.schema
      .createTable('safe_update_batch_sites')
      .addColumn('batch_id', 'bigint', (column) => column.notNull())
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('update_id', 'bigint')
      .addPrimaryKeyConstraint('safe_update_batch_sites_pk', ['batch_id', 'site_id'])
      .execute()
    const sites = (name: string) => db.schema.createIndex(name).on('safe_update_batch_sites')
    await sites('safe_update_batch_sites_site').columns(['site_id', 'batch_id']).execute()
    await sites('safe_update_batch_sites_update').column('update_id').execute()
    await partialIndex(db, {
      ...{ name: 'safe_update_batch_sites_open', table: 'safe_update_batch_sites', columns: 'update_id' },
      where: "state = 'in_progress'",
    })
    await db.schema.alterTable('safe_updates').addColumn('batch_id', 'bigint').execute()
    await partialIndex(db, {
      ...{ name: 'safe_updates_batch', table: 'safe_updates', columns: 'batch_id' },
      where: 'batch_id is not null',
    })
  },
}
