import type { Tx } from '../../platform/db/database.ts'
import { precompiledChange } from '../../platform/db/precompiled.ts'
import { noteSite, withdrawSite } from '../search/search-words.ts'

/** Lets an account see a site. Once is enough; again changes nothing. */
export async function grantAccess(tx: Tx, accountId: number, site: { id: number; name: string }): Promise<void> {
  await insertAccess(tx, { accountId, siteId: site.id, name: site.name })
  await noteSite(tx, site.id, accountId)
}

const insertAccess = precompiledChange((tx, row: { accountId: number; siteId: number; name: string }) =>
  tx
    .insertInto('site_access')
    .values({ account_id: row.accountId, site_id: row.siteId, site_name: row.name, rank: 1, is_deleted: 0 })
    .onConflict((conflict) => conflict.columns(['account_id', 'site_id']).doNothing()),
)

/** Nobody sees the site any more. */
export async function revokeAllAccess(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('site_access').where('site_id', '=', siteId).execute()
}

/** Takes a site out of an account's lists, with the account's favourite mark. */
export async function revokeAccess(tx: Tx, accountId: number, siteId: number): Promise<void> {
  await tx.deleteFrom('site_access').where('account_id', '=', accountId).where('site_id', '=', siteId).execute()
  await withdrawSite(tx, siteId, accountId)
}

/** Takes a deleted site out of all lists, or puts it back: everybody's, and those of their tags. */
export async function hideSite(tx: Tx, siteId: number, isHidden: boolean): Promise<void> {
  for (const table of ['site_access', 'site_tags'] as const)
    await tx
      .updateTable(table)
      .set({ is_deleted: isHidden ? 1 : 0 })
      .where('site_id', '=', siteId)
      .execute()
}
