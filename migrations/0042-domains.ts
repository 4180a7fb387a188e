import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Zones with their records, the domains of sites that follow from them, and the results of checks from outside. */
export const domains: Migration = {
  async up(db: AnyDb) {
    await tableWithId(db, 'zones')
      .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .addColumn('updated_at', 'bigint', (column) => column.notNull())
      .addColumn('serial', 'bigint', (column) => column.notNull())
      .addColumn('change_seq', 'bigint', (column) => column.notNull())
      .addColumn('deleted_at', 'bigint')
      .execute()
    const named = { table: 'zones', where: 'deleted_at is null' }
    await partialIndex(db, { ...named, name: 'zones_by_name', columns: 'name', unique: true })
    await partialIndex(db, { ...named, name: 'zones_of_account', columns: 'account_id, name' })
    await db.schema.createIndex('zones_by_change').on('zones').column('change_seq').execute()
    await db.schema
      .createTable('zone_clock')
      .addColumn('id', 'integer', (column) => column.primaryKey())
      .addColumn('seq', 'bigint', (column) => column.notNull())
      .execute()
    await db.insertInto('zone_clock').values({ id: 1, seq: 0 }).execute()
    await tableWithId(db, 'dns_records')
      .addColumn('zone_id', 'bigint', (column) => column.notNull().references('zones.id'))
      .addColumn('type', 'text', (column) => column.notNull())
      .addColumn('name', 'text', (column) => column.notNull())
      .addColumn('value', 'text', (column) => column.notNull())
      .addColumn('priority', 'integer')
      .addColumn('weight', 'integer')
      .addColumn('port', 'integer')
      .addColumn('ttl', 'bigint', (column) => column.notNull())
      .addColumn('site_id', 'bigint')
      .addColumn('created_at', 'bigint', (column) => column.notNull())
      .execute()
    await db.schema.createIndex('dns_records_of_zone').on('dns_records').columns(['zone_id', 'name']).execute()
    await partialIndex(db, {
      name: 'dns_records_of_site',
      table: 'dns_records',
      columns: 'site_id',
      where: 'site_id is not null',
    })
    await db.schema
      .createTable('domain_checks')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('host_name', 'text', (column) => column.notNull())
      .addColumn('dns_confirmed', 'integer', (column) => column.notNull())
      .addColumn('provisioned', 'integer', (column) => column.notNull())
      .addColumn('healthy', 'integer', (column) => column.notNull())
      .addColumn('reason', 'text')
      .addColumn('checked_at', 'bigint')
      .addColumn('due_at', 'bigint', (column) => column.notNull())
      .addPrimaryKeyConstraint('domain_checks_pk', ['site_id', 'host_name'])
      .execute()
    await db.schema.createIndex('domain_checks_due').on('domain_checks').column('due_at').execute()
    await db.schema.alterTable('sites').addColumn('primary_domain', 'text').execute()
    await db.schema
      .alterTable('routes')
      .addColumn('is_domain', 'integer', (column) => column.notNull().defaultTo(0))
      .execute()
  },
}
