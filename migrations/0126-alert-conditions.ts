import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import type { AnyDb } from './columns.ts'

/** When the DNS of a domain last pointed here, and an index for certificates that are about to expire. */
export const alertConditions: Migration = {
  async up(db: AnyDb) {
    await db.schema.alterTable('domain_checks').addColumn('confirmed_at', 'bigint').execute()
    await sql`update domain_checks set confirmed_at = checked_at where dns_confirmed = 1`.execute(db)
    await db.schema
      .createIndex('certificates_expires')
      .on('certificates')
      .columns(['expires_at', 'host_name'])
      .execute()
  },
}
