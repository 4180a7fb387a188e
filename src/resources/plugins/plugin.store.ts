import type { ListedPlugin } from '../../hosting/php/tasks.ts'
import type { Tx } from '../../platform/db/database.ts'
import type { PluginsOrder } from './plugin.ts'

export async function storePlugins(tx: Tx, siteId: number, plugins: readonly ListedPlugin[]): Promise<void> {
  const row = { site_id: siteId, plugins: JSON.stringify(plugins) }
  await tx
    .insertInto('plugin_lists')
    .values(row)
    .onConflict((conflict) => conflict.column('site_id').doUpdateSet({ plugins: row.plugins }))
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
