import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Backups of sites, and when the next one of each site is due. */
export const backups: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'backups')
      .addColumn('site_id', 'bigint', (column) => column.notNull().references('sites.id'))
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('origin', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('requested_at', 'bigint', (column) => column.notNull())
      .addColumn('taken_at', 'bigint')
      .addColumn('completed_at', 'bigint')
      .addColumn('delete_at', 'bigint', (column) => column.notNull())
      .addColumn('bytes', 'bigint')
      .addColumn('core_version', 'text')
      .addColumn('created_by', 'text')
      .addColumn('operation_id', 'bigint')
      .addColumn('error', 'text')
      .execute()
    await db.schema.createIndex('backups_site').on('backups').columns(['site_id', 'kind', 'id']).execute()
    await partialIndex(db, {
      name: 'backups_expiring',
      table: 'backups',
      columns: 'delete_at, site_id',
      where: "state in ('completed', 'failed')",
    })
    await db.schema
      .createTable('backup_schedules')
      .addColumn('site_id', 'bigint', (column) => column.primaryKey().references('sites.id'))
      .addColumn('files_at', 'bigint', (column) => column.notNull())
      .addColumn('database_at', 'bigint', (column) => column.notNull())
      .addColumn('proof_at', 'bigint', (column) => column.notNull())
      .addColumn('told_at', 'bigint')
      .execute()
    for (const due of ['files_at', 'database_at', 'proof_at'])
      await db.schema.createIndex(`backup_schedules_${due}`).on('backup_schedules').columns([due, 'site_id']).execute()
  },
}
