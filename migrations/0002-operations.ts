import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Durable operations, their steps, and recurring work. */
export const operations: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'operations')
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('runner', 'text', (column) => column.notNull())
      .addColumn('host_id', 'bigint')
      .addColumn('site_id', 'bigint')
      .addColumn('account_id', 'bigint')
      .addColumn('input', 'text', (column) => column.notNull())
      .addColumn('source', 'text')
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('ending', 'text')
      .addColumn('cancel_requested', 'integer', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('run_at', 'bigint', (column) => column.notNull())
      .addColumn('lease_owner', 'text')
      .addColumn('lease_until', 'bigint')
      .addColumn('error', 'text')
      .addColumn('progress', 'integer', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('started_at', 'bigint')
      .addColumn('finished_at', 'bigint')
      .execute()
    // Enforces the rule: one operation a site has begun and not finished, whether it runs or waits for a retry.
    await partialIndex(db, {
      name: 'operations_one_begun_a_site',
      table: 'operations',
      columns: 'site_id',
      where: 'site_id is not null and started_at is not null and finished_at is null',
      unique: true,
    })
    await partialIndex(db, {
      name: 'operations_queued',
      table: 'operations',
      columns: 'runner, host_id, run_at, id',
      where: "state = 'queued'",
    })
    await partialIndex(db, {
      name: 'operations_queued_of_site',
      table: 'operations',
      columns: 'site_id, id',
      where: "state = 'queued' and site_id is not null",
    })
    // Without lease_until: PostgreSQL writes a heartbeat without touching an index (HOT update) if none contains it.
    await partialIndex(db, {
      name: 'operations_running',
      table: 'operations',
      columns: 'runner, host_id',
      where: "state = 'running'",
    })
    await partialIndex(db, {
      name: 'operations_finished',
      table: 'operations',
      columns: 'finished_at',
      where: 'finished_at is not null',
    })
    await db.schema.createIndex('operations_site').on('operations').columns(['site_id', 'id']).execute()
    await db.schema.createIndex('operations_account').on('operations').columns(['account_id', 'id']).execute()
    await db.schema
      .createTable('operation_steps')
      .addColumn('operation_id', 'bigint', (column) => column.notNull().references('operations.id').onDelete('cascade'))
      .addColumn('position', 'integer', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('attempts', 'integer', (column) => column.notNull())
      .addColumn('result', 'text')
      .addColumn('error', 'text')
      .addColumn('started_at', 'bigint')
      .addColumn('finished_at', 'bigint')
      .addPrimaryKeyConstraint('operation_steps_pk', ['operation_id', 'position'])
      .execute()
    await db.schema
      .createTable('operation_results')
      .addColumn('operation_id', 'bigint', (column) => column.notNull().references('operations.id').onDelete('cascade'))
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('outcome', 'text', (column) => column.notNull())
      .addColumn('message', 'text')
      .addColumn('follow_up_id', 'bigint')
      .addPrimaryKeyConstraint('operation_results_pk', ['operation_id', 'site_id'])
      .execute()
    await db.schema
      .createTable('schedules')
      .addColumn('name', 'text', (column) => column.primaryKey())
      .addColumn('last_slot', 'bigint', (column) => column.notNull())
      .execute()
  },
}
