import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The value of a DNS record in the words of its client, where the API would show others. */
export const recordsAsWritten: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('dns_records').addColumn('written', 'text').execute()
  },
}
