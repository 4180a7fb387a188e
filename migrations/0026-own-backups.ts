import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The state of the backups of Stead itself. */
export const ownBackups: Migration = {
  async up(db: AnyDb) {
    for (const [name, type] of [
      ['records_backed_up_at', 'bigint'],
      ['records_failing_since', 'bigint'],
    ] as const)
      await db.schema.alterTable('installation').addColumn(name, type).execute()
  },
}
