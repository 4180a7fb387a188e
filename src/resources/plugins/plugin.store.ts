import { sql } from 'kysely'
import type { ListedPlugin, ListedTheme } from '../../hosting/php/tasks.ts'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { type Extension, storeExtensions } from '../inventory/public.ts'
import { isChangeable, type PluginsOrder } from './plugin.ts'

/** `due_at` of a site that has reported a change since its last look. */
const CHANGED = 0

/** The plugins and themes of a site's WordPress. */
export interface ListedExtensions {
  readonly plugins: readonly ListedPlugin[]
  readonly themes: readonly ListedTheme[]
}

/**
 * Stores the plugins and themes of a site, and lists them again in a day, or soon if WordPress has reported a change
 * that the list may not have yet.
 */
export async function storePlugins(
  tx: Tx,
  siteId: number,
  { plugins, themes }: ListedExtensions,
  now: number,
): Promise<void> {
  const row = { site_id: siteId, plugins: JSON.stringify(plugins), due_at: now + DAY_MS }
  await tx
    .insertInto('plugin_lists')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('site_id').doUpdateSet({
        plugins: row.plugins,
        due_at: sql<number>`case when plugin_lists.due_at = ${CHANGED} then plugin_lists.due_at else excluded.due_at end`,
      }),
    )
    .execute()
  await storeExtensions(tx, siteId, [...plugins.flatMap(pluginRow), ...themes.flatMap(themeRow)])
}

const pluginRow = ({ name, title, version, status, updateVersion, isAutomatic }: ListedPlugin): Extension[] =>
  isChangeable(status)
    ? extensionRow('plugin', { name, title, version, updateVersion, isActive: status !== 'inactive', isAutomatic })
    : []

const themeRow = (theme: ListedTheme): Extension[] => extensionRow('theme', theme)

function extensionRow(
  kind: Extension['kind'],
  theme: Omit<ListedTheme, 'isAutomatic'> & { readonly isAutomatic?: boolean | undefined },
): Extension[] {
  const slug = plain(theme.name)
  if (slug === '') return []
  return [
    {
      ...{ kind, slug, title: plain(theme.title), version: plain(theme.version) },
      is_active: theme.isActive ? 1 : 0,
      update_version: theme.updateVersion === null ? null : plain(theme.updateVersion),
      is_automatic: theme.isAutomatic ? 1 : 0,
    },
  ]
}

/** Returns a text that any database stores: the site reports it, so it may contain anything. */
const plain = (text: string): string => text.toWellFormed().replace(/\p{Cc}/gu, '')

/** Has the plugins and themes of a site listed with the next look: see `look-at-due-sites.job.ts`. */
export async function listSoon(tx: Tx, siteId: number): Promise<void> {
  await tx
    .insertInto('plugin_lists')
    .values({ site_id: siteId, plugins: '[]', due_at: CHANGED })
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet({ due_at: CHANGED }))
    .execute()
}

/** Returns the sites that are due to be listed and reachable, those that have waited longest first. */
export async function sitesDue(tx: Tx, now: number, limit: number): Promise<{ id: number; hostId: number }[]> {
  const rows = await tx
    .selectFrom('plugin_lists')
    .innerJoin('sites', 'sites.id', 'plugin_lists.site_id')
    .select(['sites.id', 'sites.host_id'])
    .where('plugin_lists.due_at', '<=', now)
    .where('sites.state', '=', 'live')
    .where('sites.deleted_at', 'is', null)
    .where('sites.closed_by', 'is', null)
    .where('sites.host_id', 'is not', null)
    .orderBy('plugin_lists.due_at')
    .orderBy('plugin_lists.site_id')
    .limit(limit)
    .execute()
  return rows.map(({ id, host_id }) => ({ id, hostId: host_id as number }))
}

/** Postpones the next look at a site, so that a site whose listing fails does not keep others waiting. */
export async function lookedAt(tx: Tx, siteId: number, now: number): Promise<void> {
  await tx
    .updateTable('plugin_lists')
    .set({ due_at: now + DAY_MS })
    .where('site_id', '=', siteId)
    .execute()
}

/** Returns the plugins of a site as last seen. */
export async function storedPlugins(tx: Tx, siteId: number): Promise<ListedPlugin[]> {
  const row = await tx.selectFrom('plugin_lists').select('plugins').where('site_id', '=', siteId).executeTakeFirst()
  return row ? (JSON.parse(row.plugins) as ListedPlugin[]) : []
}

/** Returns the paths of plugins that unfinished operations of a site will install. */
export async function plannedPaths(tx: Tx, siteId: number): Promise<Set<string>> {
  const rows = await tx
    .selectFrom('operations')
    .select('input')
    .where('site_id', '=', siteId)
    .where('type', '=', 'plugin.install')
    .where('finished_at', 'is', null)
    .execute()
  return new Set(rows.flatMap(({ input }) => (JSON.parse(input) as PluginsOrder).plugins.map(({ path }) => path)))
}

export async function deletePluginsOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('plugin_lists').where('site_id', '=', siteId).execute()
}

/** The active plugins of a site, by their files. */
export interface ActivePlugins {
  readonly active: readonly string[]
  /** Active for all sites of a network. */
  readonly network: readonly string[]
}

/** The plugin that an operation is changing. */
export interface PluginChange {
  readonly path: string
  readonly folder: string | null
  readonly before: ActivePlugins
}

export async function beginChange(tx: Tx, operationId: number, change: PluginChange): Promise<void> {
  const { path, folder, before } = change
  await tx
    .insertInto('plugin_changes')
    .values({ operation_id: operationId, path, folder, active: JSON.stringify(before) })
    .execute()
}

export async function changeUnderWay(tx: Tx, operationId: number): Promise<PluginChange | undefined> {
  const query = tx.selectFrom('plugin_changes').selectAll().where('operation_id', '=', operationId)
  const row = await query.executeTakeFirst()
  return row && { path: row.path, folder: row.folder, before: JSON.parse(row.active) as ActivePlugins }
}

export async function endChange(tx: Tx, operationId: number): Promise<void> {
  await tx.deleteFrom('plugin_changes').where('operation_id', '=', operationId).execute()
}
