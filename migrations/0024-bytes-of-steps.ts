import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The progress in bytes of a step, and its remaining time. */
export const bytesOfSteps: Migration = {
  async up(db: AnyDb) {
    for (const [name, type] of [
      ['done_bytes', 'bigint'],
      ['total_bytes', 'bigint'],
      ['seconds_left', 'integer'],
    ] as const)
      await db.schema.alterTable('operation_steps').addColumn(name, type).execute()
  },
}
