import { sql } from 'kysely'
import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import type { ExtensionCountRow, SiteExtensionRow } from './tables.ts'

/*
 * The plugins and themes of sites, and how many of an account's sites have each. Call each function in the transaction
 * that changes what is counted: the extensions of a site, or who sees it. Then the counts always equal the rows.
 */

/** A plugin or theme of a site. */
export type Extension = Omit<SiteExtensionRow, 'site_id'>

/** Rows of one statement: SQLite accepts 32,766 parameters. */
const AT_ONCE = 1000

/** Replaces the plugins and themes of a site. Of several with the same slug, the first active one counts. */
export async function storeExtensions(tx: Tx, siteId: number, extensions: readonly Extension[]): Promise<void> {
  await lockForUpdate(tx, 'sites', siteId)
  const before = new Map((await extensionsOf(tx, siteId)).map((each) => [keyOf(each), each]))
  const after = new Map<string, Extension>()
  for (const each of extensions) {
    const known = after.get(keyOf(each))
    if (!known || known.is_active < each.is_active) after.set(keyOf(each), each)
  }
  const gone = [...before.values()].filter((each) => !isSame(each, after.get(keyOf(each))))
  const come = [...after.values()].filter((each) => !isSame(each, before.get(keyOf(each))))
  if (gone.length + come.length === 0) return
  await count(tx, await seersOf(tx, siteId), [
    ...gone.map((extension) => ({ extension, by: -1 })),
    ...come.map((extension) => ({ extension, by: 1 })),
  ])
  for (const { kind, slug } of gone)
    await tx
      .deleteFrom('site_extensions')
      .where('site_id', '=', siteId)
      .where('kind', '=', kind)
      .where('slug', '=', slug)
      .execute()
  for (let at = 0; at < come.length; at += AT_ONCE)
    await tx
      .insertInto('site_extensions')
      .values(come.slice(at, at + AT_ONCE).map((each) => ({ site_id: siteId, ...each })))
      .execute()
}

/** Counts a site for an account that is about to see it. A site that it sees already stays as it is. */
export async function countForSeer(tx: Tx, accountId: number, siteId: number): Promise<void> {
  // A new site has none, so its creation costs one read.
  if ((await extensionsOf(tx, siteId)).length === 0) return
  await lockForUpdate(tx, 'sites', siteId)
  const access = tx.selectFrom('site_access').select('site_id').where('account_id', '=', accountId)
  if (await access.where('site_id', '=', siteId).executeTakeFirst()) return
  await countSite(tx, siteId, [accountId], 1)
}

/**
 * Stops counting a site whose accounts are about to lose it.
 * @param accountId limits it to this account
 */
export async function uncountSite(tx: Tx, siteId: number, accountId?: number): Promise<void> {
  await lockForUpdate(tx, 'sites', siteId)
  const seers = await seersOf(tx, siteId)
  await countSite(tx, siteId, accountId === undefined ? seers : seers.filter((id) => id === accountId), -1)
}

/** Counts a site that is about to return from the trash. */
export async function countAgain(tx: Tx, siteId: number): Promise<void> {
  await lockForUpdate(tx, 'sites', siteId)
  await countSite(tx, siteId, await seersOf(tx, siteId, { areHidden: true }), 1)
}

/** Deletes the rows of a site that no account sees. */
export async function deleteExtensionsOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('site_extensions').where('site_id', '=', siteId).execute()
}

export async function deleteCountsOfAccount(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('extension_counts').where('account_id', '=', accountId).execute()
}

export const extensionsOf = (tx: Tx, siteId: number): Promise<Extension[]> =>
  tx
    .selectFrom('site_extensions')
    .select(['kind', 'slug', 'title', 'version', 'is_active', 'update_version', 'is_automatic'])
    .where('site_id', '=', siteId)
    .execute()

async function seersOf(tx: Tx, siteId: number, { areHidden = false } = {}): Promise<number[]> {
  const rows = await tx
    .selectFrom('site_access')
    .select('account_id')
    .where('site_id', '=', siteId)
    .where('is_deleted', '=', areHidden ? 1 : 0)
    .execute()
  return rows.map(({ account_id }) => account_id)
}

async function countSite(tx: Tx, siteId: number, accountIds: readonly number[], by: 1 | -1): Promise<void> {
  if (accountIds.length === 0) return
  const extensions = await extensionsOf(tx, siteId)
  await count(
    tx,
    accountIds,
    extensions.map((extension) => ({ extension, by })),
  )
}

const keyOf = ({ kind, slug }: Pick<Extension, 'kind' | 'slug'>): string => `${kind} ${slug}`

const columns = ['title', 'version', 'is_active', 'update_version', 'is_automatic'] as const
const isSame = (one: Extension, other: Extension | undefined): boolean =>
  other !== undefined && columns.every((column) => one[column] === other[column])

/** Adds to the counts of accounts, or subtracts from them. */
async function count(
  tx: Tx,
  accountIds: readonly number[],
  changes: readonly { readonly extension: Extension; readonly by: number }[],
): Promise<void> {
  const sums = new Map<string, Omit<ExtensionCountRow, 'account_id'>>()
  for (const { extension, by } of changes) {
    const { kind, slug, version, title } = extension
    const key = `${keyOf(extension)} ${version}`
    const sum = sums.get(key) ?? { kind, slug, version, title, sites: 0, active: 0, update_due: 0, automatic: 0 }
    sums.set(key, {
      ...sum,
      ...(by > 0 && { title }),
      sites: sum.sites + by,
      active: sum.active + by * extension.is_active,
      update_due: sum.update_due + (extension.update_version === null ? 0 : by),
      automatic: sum.automatic + by * extension.is_automatic,
    })
  }
  // Rows are always locked in the same order.
  const ordered = [...sums].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, sum]) => sum)
  for (const accountId of [...accountIds].sort((left, right) => left - right)) {
    const rows = ordered.map((sum) => ({ account_id: accountId, ...sum }))
    for (let at = 0; at < rows.length; at += AT_ONCE) await addCounts(tx, rows.slice(at, at + AT_ONCE))
    await tx.deleteFrom('extension_counts').where('account_id', '=', accountId).where(sql<boolean>`sites = 0`).execute()
  }
}

async function addCounts(tx: Tx, rows: readonly ExtensionCountRow[]): Promise<void> {
  const plus = (column: 'sites' | 'active' | 'update_due' | 'automatic') =>
    sql<number>`${sql.ref(`extension_counts.${column}`)} + ${sql.ref(`excluded.${column}`)}`
  await tx
    .insertInto('extension_counts')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'kind', 'slug', 'version']).doUpdateSet({
        title: sql<string>`case when excluded.sites >= 0 then excluded.title else extension_counts.title end`,
        sites: plus('sites'),
        active: plus('active'),
        update_due: plus('update_due'),
        automatic: plus('automatic'),
      }),
    )
    .execute()
}
