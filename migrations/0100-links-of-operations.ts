import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** The operation that mails a link. Each attempt creates another link, and all of them count as one mail. */
export const linksOfOperations: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('password_links').addColumn('operation_id', 'bigint').execute()
  },
}
