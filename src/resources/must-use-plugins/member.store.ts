import type { Tx } from '../../platform/db/database.ts'
import { isInProgress } from '../../platform/operations/is-in-progress.ts'

/* The must-use plugins of each site. */

/** Adds a plugin to all sites of the account that do not have it yet. Hold the account. */
export async function addAllSites(tx: Tx, pluginId: number, accountId: number): Promise<void> {
  await tx
    .insertInto('mu_plugin_sites')
    .columns(['plugin_id', 'site_id'])
    .expression(({ selectFrom, val }) =>
      selectFrom('sites')
        .select([val(pluginId).as('plugin_id'), 'sites.id'])
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Adds the plugins for future sites to a new site, and those of its source to a clone. */
export async function addToNewSite(
  tx: Tx,
  { id, accountId, clonedFromId }: { id: number; accountId: number; clonedFromId: number | null },
): Promise<void> {
  await tx
    .insertInto('mu_plugin_sites')
    .columns(['plugin_id', 'site_id'])
    .expression(({ selectFrom, val }) =>
      selectFrom('mu_plugins')
        .select(['mu_plugins.id', val(id).as('site_id')])
        .where('account_id', '=', accountId)
        .where('deleted_at', 'is', null)
        .where(({ or, eb, selectFrom: inner }) =>
          or([
            eb('future_sites', '=', 1),
            eb(
              'mu_plugins.id',
              'in',
              inner('mu_plugin_sites')
                .select('plugin_id')
                .where('site_id', '=', clonedFromId ?? 0),
            ),
          ]),
        ),
    )
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

/** Returns whether an account has must-use plugins, or had some. */
export async function hasMuPlugins(tx: Tx, accountId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('mu_plugins')
    .select('id')
    .where('account_id', '=', accountId)
    .unionAll(tx.selectFrom('mu_plugin_contents').select('id').where('account_id', '=', accountId))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Site that should get a plugin, or lose it. */
export interface Member {
  readonly siteId: number
  readonly hostId: number | null
  readonly accountId: number
  /** Whether it exists, so that no other operation is creating it. */
  readonly isMade: boolean
  /** Whether an operation works on it. */
  readonly isClosed: boolean
  /** Increased when its content may have changed. */
  readonly changes: number
}

const members = (tx: Tx) =>
  tx
    .selectFrom('sites')
    .select(['sites.id', 'sites.account_id', 'sites.host_id', 'sites.state', 'sites.content_changes'])
    .select(isInProgress('sites.closed_by').as('is_closed'))
    .where('sites.deleted_at', 'is', null)

const member = (row: {
  id: number
  account_id: number
  host_id: number | null
  state: string
  content_changes: number
  is_closed: 0 | 1
}): Member => ({
  siteId: row.id,
  hostId: row.host_id,
  accountId: row.account_id,
  isMade: row.state !== 'deploying' && row.state !== 'cloning',
  isClosed: row.is_closed === 1,
  changes: row.content_changes,
})

/** Returns the members in order of site. `without` excludes those with a result of this operation. */
export async function membersOf(
  tx: Tx,
  pluginId: number,
  { hostId, without }: { hostId?: number; without: number },
): Promise<Member[]> {
  let query = members(tx)
    .innerJoin('mu_plugin_sites', 'mu_plugin_sites.site_id', 'sites.id')
    .where('mu_plugin_sites.plugin_id', '=', pluginId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('operation_results')
            .select('operation_results.site_id')
            .where('operation_results.operation_id', '=', without)
            .whereRef('operation_results.site_id', '=', 'sites.id'),
        ),
      ),
    )
    .orderBy('sites.id')
  if (hostId !== undefined) query = query.where('sites.host_id', '=', hostId)
  return (await query.execute()).map(member)
}

/** Returns those of the sites that still exist, in order. */
export async function membersAmong(tx: Tx, siteIds: readonly number[]): Promise<Member[]> {
  if (siteIds.length === 0) return []
  return (
    await members(tx)
      .where('sites.id', 'in', [...siteIds])
      .orderBy('sites.id')
      .execute()
  ).map(member)
}

/**
 * Returns what sites should have: the content of each file, by site.
 * @param slug limits the result to this file
 */
export async function wantedOn(
  tx: Tx,
  siteIds: readonly number[],
  slug?: string,
): Promise<{ siteId: number; slug: string; sha256: string }[]> {
  if (siteIds.length === 0) return []
  let query = tx
    .selectFrom('mu_plugin_sites')
    .innerJoin('mu_plugins', 'mu_plugins.id', 'mu_plugin_sites.plugin_id')
    .select(['mu_plugin_sites.site_id as siteId', 'mu_plugins.slug', 'mu_plugins.sha256'])
    .where('mu_plugin_sites.site_id', 'in', [...siteIds])
    .where('mu_plugins.deleted_at', 'is', null)
    .where('mu_plugins.sha256', 'is not', null)
    .$narrowType<{ sha256: string }>()
  if (slug !== undefined) query = query.where('mu_plugins.slug', '=', slug)
  return query.execute()
}

/**
 * Removes sites from deleted plugins that they no longer have.
 * @param slug limits it to this file
 */
export async function dropDeletedFrom(tx: Tx, siteIds: readonly number[], slug?: string): Promise<void> {
  if (siteIds.length === 0) return
  let deleted = tx.selectFrom('mu_plugins').select('id').where('deleted_at', 'is not', null)
  if (slug !== undefined) deleted = deleted.where('slug', '=', slug)
  await tx
    .deleteFrom('mu_plugin_sites')
    .where('site_id', 'in', [...siteIds])
    .where('plugin_id', 'in', deleted)
    .execute()
}

export async function dropMemberships(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('mu_plugin_sites').where('site_id', '=', siteId).execute()
}

/** Returns the PHP versions that must accept the file: those of the account's sites, and that of its new ones. */
export async function phpVersionsOf(tx: Tx, accountId: number): Promise<string[]> {
  const rows = await tx
    .selectFrom('sites')
    .select('php_version as version')
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .union(tx.selectFrom('accounts').select('default_php_version as version').where('id', '=', accountId))
    .execute()
  return rows.map(({ version }) => version).sort()
}
