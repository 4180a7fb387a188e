import type { Tx } from '../../platform/db/database.ts'
import { precompiledChange } from '../../platform/db/precompiled.ts'
import { countAgain, countForSeer, uncountSite } from '../inventory/public.ts'
import { noteSite, withdrawSite } from '../search/public.ts'

/** Lets an account see a site. A repeated call changes nothing. */
export async function grantAccess(tx: Tx, accountId: number, site: { id: number }): Promise<void> {
  await countForSeer(tx, accountId, site.id)
  await insertAccess(tx, { accountId, siteId: site.id })
  await noteSite(tx, site.id, accountId)
}

const insertAccess = precompiledChange((tx, row: { accountId: number; siteId: number }) =>
  tx
    .insertInto('site_access')
    .columns(['account_id', 'site_id', 'site_name', 'rank', 'is_deleted', 'php_version', 'used_bytes'])
    .expression(({ selectFrom, val, lit, fn }) =>
      selectFrom('sites')
        .leftJoin('site_statistics as used', 'used.site_id', 'sites.id')
        .select((query) => [
          val(row.accountId).as('account_id'),
          'sites.id as site_id',
          'sites.name as site_name',
          lit(1).as('rank'),
          lit(0).as('is_deleted'),
          'sites.php_version',
          fn.coalesce(query('used.database_bytes', '+', query.ref('used.file_bytes')), lit(0)).as('used_bytes'),
        ])
        .where('sites.id', '=', row.siteId),
    )
    .onConflict((conflict) => conflict.columns(['account_id', 'site_id']).doNothing()),
)

/** Copies the PHP version of a site to the rows that sort lists by it. */
export async function notePhpVersion(tx: Tx, siteId: number, version: string): Promise<void> {
  await tx.updateTable('site_access').set({ php_version: version }).where('site_id', '=', siteId).execute()
}

/** Removes the site from the lists of all accounts. */
export async function revokeAllAccess(tx: Tx, siteId: number): Promise<void> {
  await uncountSite(tx, siteId)
  await tx.deleteFrom('site_access').where('site_id', '=', siteId).execute()
}

/** Removes a site from an account's lists, with the account's favorite mark. */
export async function revokeAccess(tx: Tx, accountId: number, siteId: number): Promise<void> {
  await uncountSite(tx, siteId, accountId)
  await tx.deleteFrom('site_access').where('account_id', '=', accountId).where('site_id', '=', siteId).execute()
  await withdrawSite(tx, siteId, accountId)
}

/** Hides a deleted site from all lists, or shows it again: those of accounts, and those of their tags. */
export async function hideSite(tx: Tx, siteId: number, isHidden: boolean): Promise<void> {
  await (isHidden ? uncountSite : countAgain)(tx, siteId)
  for (const table of ['site_access', 'site_tags'] as const)
    await tx
      .updateTable(table)
      .set({ is_deleted: isHidden ? 1 : 0 })
      .where('site_id', '=', siteId)
      .execute()
}

/** Deletes the rows of an account's sites, which are purged, and its access to those of others. */
export async function forgetSitesOf(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('site_access').where('account_id', '=', accountId).execute()
  await tx.deleteFrom('sites').where('account_id', '=', accountId).execute()
}
