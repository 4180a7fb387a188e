import type { Migration } from 'kysely/migration'
import { type AnyDb, tableWithId } from './columns.ts'

/** Signed zones, and their keys. */
export const dnssec: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .alterTable('zones')
      .addColumn('dnssec', 'text', (column) => column.notNull().defaultTo('off'))
      .execute()
    await db.schema.alterTable('zones').addColumn('dnssec_due_at', 'bigint').execute()
    await db.schema.alterTable('zones').addColumn('ds_looked_at', 'bigint').execute()
    await db.schema.alterTable('zones').addColumn('ds_seen_at', 'bigint').execute()
    await db.schema.alterTable('zones').addColumn('ds_fault', 'text').execute()
    await tableWithId(db, 'zone_keys')
      .addColumn('zone_id', 'bigint', (column) => column.notNull().references('zones.id'))
      .addColumn('state', 'text', (column) => column.notNull())
      .addColumn('state_at', 'bigint', (column) => column.notNull())
      .addColumn('tag', 'integer', (column) => column.notNull())
      .addColumn('dnskey', 'text', (column) => column.notNull())
      .addColumn('private_key', 'text', (column) => column.notNull())
      .addColumn('has_ds', 'integer', (column) => column.notNull().defaultTo(0))
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('zone_keys_of_zone').on('zone_keys').column('zone_id').execute()
    await db.schema.createIndex('zones_dnssec_due').on('zones').column('dnssec_due_at').execute()
  },
}
