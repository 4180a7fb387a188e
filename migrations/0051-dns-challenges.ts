import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/** Challenges of certificate authorities in zones, and the owners with a mail about an expiring certificate. */
export const dnsChallenges: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('dns_challenges')
      .addColumn('host_name', 'text', (column) => column.primaryKey())
      .addColumn('zone_id', 'bigint', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .execute()
    await db.schema
      .alterTable('certificates')
      .addColumn('told', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.createIndex('certificates_end').on('certificates').column('expires_at').execute()
    await partialIndex(db, {
      ...{ name: 'certificates_failing', table: 'certificates', columns: 'reason_at' },
      where: 'reason_at is not null',
    })
    await db.schema.createIndex('dns_challenges_of_zone').on('dns_challenges').column('zone_id').execute()
  },
}
