import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The value of a DNS record as its client wrote it, if the API would show another spelling. */
export const recordsAsWritten: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('dns_records').addColumn('written', 'text').execute()
  },
}
