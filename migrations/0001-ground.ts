import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Accounts and their applications, hosts, and sites with their basic tables. */
export const ground: Migration = {
  async up(db: AnyDb) {
    await accounts(db)
    await hosts(db)
    await sites(db)
    await records(db)
  },
}

async function accounts(db: AnyDb): Promise<void> {
  await tableWithId(db, 'accounts')
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('organization', 'text', (column) => column.notNull())
    .addColumn('phone_number', 'text', (column) => column.notNull())
    .addColumn('plan', 'text', (column) => column.notNull())
    .addColumn('default_php_version', 'text', (column) => column.notNull())
    .addColumn('default_datacenter', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await tableWithId(db, 'applications')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('client_id', 'text', (column) => column.notNull().unique())
    .addColumn('secret_hash', 'text', (column) => column.notNull())
    .addColumn('is_owner', 'integer', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('revoked_at', 'bigint')
    .execute()
  await db.schema.createIndex('applications_account').on('applications').column('account_id').execute()
  await db.schema
    .createTable('tokens')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('application_id', 'bigint', (column) => column.notNull().references('applications.id'))
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('expires_at', 'bigint', (column) => column.notNull())
    .addColumn('revoked_at', 'bigint')
    .execute()
  await db.schema.createIndex('tokens_expiry').on('tokens').column('expires_at').execute()
  await db.schema.createIndex('tokens_application').on('tokens').column('application_id').execute()
  await db.schema
    .createTable('idempotency_keys')
    .addColumn('application_id', 'bigint', (column) => column.notNull().references('applications.id'))
    .addColumn('key', 'text', (column) => column.notNull())
    .addColumn('fingerprint', 'text', (column) => column.notNull())
    .addColumn('response_sealed', 'text')
    .addColumn('status', 'integer')
    .addColumn('locked_until', 'bigint', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('idempotency_keys_pk', ['application_id', 'key'])
    .execute()
  await db.schema.createIndex('idempotency_keys_created').on('idempotency_keys').column('created_at').execute()
}

async function hosts(db: AnyDb): Promise<void> {
  await tableWithId(db, 'hosts')
    .addColumn('name', 'text', (column) => column.notNull().unique())
    .addColumn('address', 'text', (column) => column.notNull())
    .addColumn('datacenters', 'text', (column) => column.notNull())
    .addColumn('max_sites', 'integer', (column) => column.notNull())
    .addColumn('facts', 'text', (column) => column.notNull())
    .addColumn('seen_at', 'bigint', (column) => column.notNull())
    .execute()
  await tableWithId(db, 'site_homes')
    .addColumn('host_id', 'bigint', (column) => column.notNull().references('hosts.id'))
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('core_version', 'text', (column) => column.notNull())
    .addColumn('install', 'text', (column) => column.notNull())
    .addColumn('site_id', 'bigint', (column) => column.unique())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await partialIndex(db, {
    name: 'site_homes_free',
    table: 'site_homes',
    columns: 'host_id, state, id',
    where: 'site_id is null',
  })
}

async function sites(db: AnyDb): Promise<void> {
  await tableWithId(db, 'sites')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('display_name', 'text', (column) => column.notNull())
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('staging', 'integer', (column) => column.notNull())
    .addColumn('datacenter_code', 'text', (column) => column.notNull())
    .addColumn('host_id', 'bigint', (column) => column.references('hosts.id'))
    .addColumn('php_version', 'text', (column) => column.notNull())
    .addColumn('core_version', 'text')
    .addColumn('core_channel', 'text', (column) => column.notNull())
    .addColumn('install', 'text', (column) => column.notNull())
    .addColumn('environment_type', 'text', (column) => column.notNull())
    .addColumn('multisite', 'integer', (column) => column.notNull())
    .addColumn('light_404', 'integer', (column) => column.notNull())
    .addColumn('edge_cache', 'integer', (column) => column.notNull())
    .addColumn('cdn', 'integer', (column) => column.notNull())
    .addColumn('defensive_until', 'bigint')
    .addColumn('maintenance', 'integer', (column) => column.notNull())
    .addColumn('cache_epoch', 'bigint', (column) => column.notNull())
    .addColumn('cloned_from_id', 'bigint')
    .addColumn('admin_username', 'text', (column) => column.notNull())
    .addColumn('admin_email', 'text', (column) => column.notNull())
    .addColumn('written_address', 'text')
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('deleted_at', 'bigint')
    .execute()
  await partialIndex(db, {
    name: 'sites_name',
    table: 'sites',
    columns: 'name',
    where: 'deleted_at is null',
    unique: true,
  })
  await partialIndex(db, {
    name: 'sites_account',
    table: 'sites',
    columns: 'account_id, name',
    where: 'deleted_at is null',
  })
  await db.schema.createIndex('sites_host').on('sites').column('host_id').execute()
  await db.schema
    .createTable('routes')
    .addColumn('host_name', 'text', (column) => column.primaryKey())
    .addColumn('site_id', 'bigint', (column) => column.notNull().references('sites.id'))
    .addColumn('changed_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('routes_changed').on('routes').column('changed_at').execute()
  await db.schema.createIndex('routes_site').on('routes').column('site_id').execute()
}

async function records(db: AnyDb): Promise<void> {
  await tableWithId(db, 'activity')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('site_id', 'bigint')
    .addColumn('action', 'text', (column) => column.notNull())
    .addColumn('description', 'text', (column) => column.notNull())
    .addColumn('message', 'text', (column) => column.notNull())
    .addColumn('source', 'text', (column) => column.notNull())
    .addColumn('actor_email', 'text')
    .addColumn('ip_address', 'text')
    .addColumn('user_agent', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await tableWithId(db, 'events')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('site_id', 'bigint')
    .addColumn('type', 'text', (column) => column.notNull())
    .addColumn('data', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('events_account').on('events').columns(['account_id', 'id']).execute()
}
