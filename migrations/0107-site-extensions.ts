import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, partialIndex } from './columns.ts'

/**
 * The plugins and themes of all sites, and on how many of an account's sites each is. Filled from the stored lists of
 * plugins. Themes, and what is missing, are listed within a day.
 */
export const siteExtensions: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('site_extensions')
      .addColumn('site_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('is_active', 'integer', (column) => column.notNull())
      .addColumn('update_version', 'text')
      .addColumn('is_automatic', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('site_extensions_pk', ['site_id', 'kind', 'slug'])
      .execute()
    await db.schema
      .createIndex('site_extensions_slug')
      .on('site_extensions')
      .columns(['kind', 'slug', 'site_id'])
      .execute()
    await db.schema
      .createTable('extension_counts')
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('slug', 'text', (column) => column.notNull())
      .addColumn('version', 'text', (column) => column.notNull())
      .addColumn('title', 'text', (column) => column.notNull())
      .addColumn('sites', 'integer', (column) => column.notNull())
      .addColumn('active', 'integer', (column) => column.notNull())
      .addColumn('update_due', 'integer', (column) => column.notNull())
      .addColumn('automatic', 'integer', (column) => column.notNull())
      .addPrimaryKeyConstraint('extension_counts_pk', ['account_id', 'kind', 'slug', 'version'])
      .execute()
    const none = { name: 'extension_counts_none', table: 'extension_counts', columns: 'account_id' }
    await partialIndex(db, { ...none, where: 'sites = 0' })
    await db.schema
      .alterTable('plugin_lists')
      .addColumn('due_at', 'bigint', (column) => column.notNull().defaultTo(0))
      .execute()
    await db.schema.createIndex('plugin_lists_due').on('plugin_lists').columns(['due_at', 'site_id']).execute()
    await sql`insert into plugin_lists (site_id, plugins)
      select id, '[]' from sites where not exists (select 1 from plugin_lists where site_id = sites.id)`.execute(db)
    // Existing sites are listed in the course of a day.
    await sql`update plugin_lists set due_at = ${Date.now()} + (site_id % 1440) * 60000`.execute(db)
    await fill(db)
    await sql`insert into extension_counts
        (account_id, kind, slug, version, title, sites, active, update_due, automatic)
      select site_access.account_id, kind, slug, version, max(title), count(*), sum(is_active), count(update_version), 0
      from site_extensions join site_access on site_access.site_id = site_extensions.site_id
      where site_access.is_deleted = 0
      group by site_access.account_id, kind, slug, version`.execute(db)
  },
}

const AT_ONCE = 100

interface Listed {
  readonly name: string
  readonly title: string
  readonly version: string
  readonly status: string
  readonly updateVersion: string | null
}

/** Reads in batches, so that a large installation fits into memory. */
async function fill(db: AnyDb): Promise<void> {
  for (let after = 0; ; ) {
    const lists = await db
      .selectFrom('plugin_lists')
      .select(['site_id', 'plugins'])
      .where('site_id', '>', after)
      .orderBy('site_id')
      .limit(AT_ONCE)
      .execute()
    if (lists.length === 0) return
    after = Number(lists.at(-1)?.site_id)
    for (const { site_id, plugins } of lists) {
      const rows = rowsOf(site_id, JSON.parse(plugins))
      for (let at = 0; at < rows.length; at += AT_ONCE)
        await db
          .insertInto('site_extensions')
          .values(rows.slice(at, at + AT_ONCE))
          .execute()
    }
  }
}

function rowsOf(siteId: number, plugins: readonly Listed[]): object[] {
  const rows = new Map<string, { readonly is_active: number }>()
  for (const { name, title, version, status, updateVersion } of plugins) {
    const slug = plain(name)
    if (slug === '' || status === 'must-use' || status === 'dropin') continue
    const isActive = status === 'inactive' ? 0 : 1
    if ((rows.get(slug)?.is_active ?? -1) >= isActive) continue
    rows.set(slug, {
      ...{ site_id: siteId, kind: 'plugin', slug, title: plain(title), version: plain(version) },
      ...{ is_active: isActive, update_version: updateVersion === null ? null : plain(updateVersion), is_automatic: 0 },
    })
  }
  return [...rows.values()]
}

const plain = (text: string): string => text.toWellFormed().replace(/\p{Cc}/gu, '')
