import { sql } from 'kysely'
import { usableStates } from '../../hosting/host-state.ts'
import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import { type RowsAsked, rowsOfPage } from '../../platform/db/rows-of-page.ts'
import { databaseNow } from '../../platform/operations/worker/lease.ts'
import type { MuPlugin } from './mu-plugin.ts'
import type { MuPluginRow } from './tables.ts'

type Stored = Omit<MuPluginRow, 'id'> & { id: number }

const plugin = (row: Stored): MuPlugin => ({
  id: row.id,
  accountId: row.account_id,
  path: row.path,
  slug: row.slug,
  isOnExistingSites: row.existing_sites === 1,
  isOnFutureSites: row.future_sites === 1,
  sha256: row.sha256,
  operationId: row.operation_id,
  createdAt: row.created_at,
  isDeleted: row.deleted_at !== null,
})

const ofAccount = (tx: Tx, accountId: number) =>
  tx.selectFrom('mu_plugins').where('account_id', '=', accountId).where('deleted_at', 'is', null)

/** Returns the must-use plugins of an account, in order of id. */
export async function muPluginsOfAccount(tx: Tx, accountId: number, page: RowsAsked): Promise<MuPlugin[]> {
  const all = ofAccount(tx, accountId).selectAll().orderBy('id')
  const query = rowsOfPage(all, page, { column: 'id', order: 'asc' })
  return (await query.execute()).map(plugin)
}

export async function countMuPlugins(tx: Tx, accountId: number): Promise<number> {
  const { count } = await ofAccount(tx, accountId)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findMuPlugin(tx: Tx, accountId: number, id: number): Promise<MuPlugin | undefined> {
  const row = await ofAccount(tx, accountId).selectAll().where('id', '=', id).executeTakeFirst()
  return row && plugin(row)
}

/** Returns whether an account has the file name. Ignores case, because some file systems do. */
export async function hasSlug(tx: Tx, accountId: number, slug: string): Promise<boolean> {
  const row = await ofAccount(tx, accountId)
    .select('id')
    .where(({ fn }) => fn('lower', ['slug']), '=', slug.toLowerCase())
    .executeTakeFirst()
  return row !== undefined
}

/** Returns a plugin for an operation, even if it is deleted. In a transaction, holds the account's plugins. */
export async function muPluginOfWork(tx: Tx, id: number): Promise<MuPlugin | undefined> {
  const row = await tx.selectFrom('mu_plugins').selectAll().where('id', '=', id).executeTakeFirst()
  if (!row || !tx.isTransaction) return row && plugin(row)
  await lockForUpdate(tx, 'accounts', row.account_id)
  const held = await tx.selectFrom('mu_plugins').selectAll().where('id', '=', id).executeTakeFirst()
  return held && plugin(held)
}

export async function insertMuPlugin(
  tx: Tx,
  values: { accountId: number; path: string; slug: string; existing: boolean; future: boolean; now: number },
): Promise<MuPlugin> {
  const row = await tx
    .insertInto('mu_plugins')
    .values({
      account_id: values.accountId,
      path: values.path,
      slug: values.slug,
      existing_sites: values.existing ? 1 : 0,
      future_sites: values.future ? 1 : 0,
      sha256: null,
      operation_id: null,
      created_at: values.now,
      deleted_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return plugin(row)
}

export async function changeMuPlugin(
  tx: Tx,
  id: number,
  changes: Partial<Pick<MuPluginRow, 'sha256' | 'operation_id' | 'deleted_at'>>,
): Promise<void> {
  await tx.updateTable('mu_plugins').set(changes).where('id', '=', id).execute()
}

/**
 * Deletes the rows of deleted plugins that no site has any longer.
 * @param ending plugin whose removal ends in this transaction. Others that are still being removed stay until then
 */
export async function dropForgotten(tx: Tx, ending = 0): Promise<void> {
  await tx
    .deleteFrom('mu_plugins')
    .where('deleted_at', 'is not', null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('mu_plugin_sites').select('site_id').whereRef('mu_plugin_sites.plugin_id', '=', 'mu_plugins.id'),
        ),
      ),
    )
    .where(({ or, eb, not, exists, selectFrom }) =>
      or([
        eb('mu_plugins.id', '=', ending),
        not(
          exists(
            selectFrom('operations')
              .select('operations.id')
              .whereRef('operations.id', '=', 'mu_plugins.operation_id')
              .where('operations.finished_at', 'is', null),
          ),
        ),
      ]),
    )
    .execute()
}

/** Hosts report every two seconds. */
const SILENT_MS = 60_000

/**
 * Returns where the work on a plugin begins: the host with most of the account's sites, preferably one that reports.
 */
export async function hostForWork(tx: Tx, accountId: number): Promise<number | undefined> {
  const found = await tx
    .selectFrom('hosts')
    .leftJoin('sites', (join) =>
      join
        .onRef('sites.host_id', '=', 'hosts.id')
        .on('sites.account_id', '=', accountId)
        .on('sites.deleted_at', 'is', null),
    )
    .select('hosts.id')
    .where('hosts.state', 'in', usableStates)
    .groupBy(['hosts.id', 'hosts.seen_at'])
    .orderBy(sql`case when hosts.seen_at > ${databaseNow(tx)} - ${SILENT_MS} then 0 else 1 end`)
    .orderBy(sql`count(sites.id)`, 'desc')
    .orderBy('hosts.id')
    .limit(1)
    .executeTakeFirst()
  return found?.id
}

/** Deletes the files of an account and their contents. Its sites are gone. */
export async function deleteMuPluginsOfAccount(tx: Tx, accountId: number): Promise<void> {
  const plugins = tx.selectFrom('mu_plugins').select('id').where('account_id', '=', accountId)
  await tx.deleteFrom('mu_plugin_sites').where('plugin_id', 'in', plugins).execute()
  for (const table of ['mu_plugins', 'mu_plugin_contents'] as const)
    await tx.deleteFrom(table).where('account_id', '=', accountId).execute()
}
