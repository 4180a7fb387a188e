import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex, tableWithId } from './columns.ts'

/** Site access, collaborators, tags, favourites, notes, add-ons, and the indexes of the activity log. */
export const people: Migration = {
  async up(db: AnyDb) {
    await access(db)
    await tagsAndNotes(db)
    await activityIndexes(db)
  },
}

async function access(db: AnyDb): Promise<void> {
  await db.schema
    .createTable('site_access')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('site_id', 'bigint', (column) => column.notNull().references('sites.id'))
    .addColumn('site_name', 'text', (column) => column.notNull())
    .addColumn('rank', 'integer', (column) => column.notNull())
    .addColumn('is_deleted', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('site_access_pk', ['account_id', 'site_id'])
    .execute()
  await db.schema.createIndex('site_access_site').on('site_access').column('site_id').execute()
  // The order of every list of sites: an account's favourites first, then by name.
  await partialIndex(db, {
    name: 'site_access_order',
    table: 'site_access',
    columns: 'account_id, rank, site_name, site_id',
    where: 'is_deleted = 0',
  })
  await tableWithId(db, 'collaborators')
    .addColumn('site_id', 'bigint', (column) => column.notNull().references('sites.id'))
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('owner_account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('state', 'text', (column) => column.notNull())
    .addColumn('wp_username', 'text', (column) => column.notNull())
    .addColumn('roles', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .addUniqueConstraint('collaborators_once', ['account_id', 'site_id'])
    .execute()
  await db.schema.createIndex('collaborators_site').on('collaborators').columns(['site_id', 'id']).execute()
  await db.schema.createIndex('collaborators_account').on('collaborators').columns(['account_id', 'id']).execute()
  await db.schema.createIndex('collaborators_owner').on('collaborators').columns(['owner_account_id', 'id']).execute()
  // Counts the different people that an account works with.
  await db.schema
    .createIndex('collaborators_people')
    .on('collaborators')
    .columns(['owner_account_id', 'account_id'])
    .execute()
  await db.schema
    .createTable('account_access')
    .addColumn('owner_account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('add_to_all_new', 'integer', (column) => column.notNull())
    .addColumn('create_site', 'integer', (column) => column.notNull())
    .addColumn('roles', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('account_access_pk', ['owner_account_id', 'account_id'])
    .execute()
  await db.schema.createIndex('account_access_account').on('account_access').column('account_id').execute()
}

async function tagsAndNotes(db: AnyDb): Promise<void> {
  await tableWithId(db, 'tags')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('name', 'text', (column) => column.notNull())
    .addUniqueConstraint('tags_once', ['account_id', 'name'])
    .execute()
  await db.schema
    .createTable('site_tags')
    .addColumn('tag_id', 'bigint', (column) => column.notNull().references('tags.id').onDelete('cascade'))
    .addColumn('site_id', 'bigint', (column) => column.notNull().references('sites.id'))
    .addPrimaryKeyConstraint('site_tags_pk', ['tag_id', 'site_id'])
    .execute()
  await db.schema.createIndex('site_tags_site').on('site_tags').columns(['site_id', 'tag_id']).execute()
  await tableWithId(db, 'notes')
    .addColumn('site_id', 'bigint', (column) => column.notNull().references('sites.id'))
    .addColumn('author', 'text', (column) => column.notNull())
    .addColumn('editor', 'text', (column) => column.notNull())
    .addColumn('subject', 'text', (column) => column.notNull())
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('created_at', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'bigint', (column) => column.notNull())
    .execute()
  await db.schema.createIndex('notes_site').on('notes').columns(['site_id', 'id']).execute()
  await db.schema
    .createTable('account_addons')
    .addColumn('account_id', 'bigint', (column) => column.notNull().references('accounts.id'))
    .addColumn('addon_id', 'integer', (column) => column.notNull())
    .addColumn('quantity', 'integer', (column) => column.notNull())
    .addPrimaryKeyConstraint('account_addons_pk', ['account_id', 'addon_id'])
    .execute()
}

/**
 * An index for each filter of the two logs, and one that covers all filters. `contains`, and several filters together,
 * scan that one newest first and read only the entries of the page.
 */
async function activityIndexes(db: AnyDb): Promise<void> {
  const filters = ['action', 'actor_email', 'ip_address', 'source']
  for (const log of ['account', 'site']) {
    const index = (name: string, columns: string[]) =>
      db.schema.createIndex(name).on('activity').columns(columns).execute()
    await index(`activity_${log}`, [`${log}_id`, 'id', ...filters])
    for (const filter of filters) await index(`activity_${log}_${filter}`, [`${log}_id`, filter, 'id'])
  }
  await db.schema.createIndex('activity_created').on('activity').column('created_at').execute()
  // An entry leaves the log of its site before that of its account.
  await partialIndex(db, {
    name: 'activity_site_created',
    table: 'activity',
    columns: 'created_at',
    where: 'site_id is not null',
  })
}
