import type { Tx } from '../../platform/db/database.ts'

/** Gives a site tags of an account; tags that do not exist yet are made. */
export async function addTags(tx: Tx, accountId: number, siteId: number, names: readonly string[]): Promise<void> {
  const wanted = [...new Set(names.map((name) => name.trim()))]
  if (wanted.length === 0) return
  await tx
    .insertInto('tags')
    .values(wanted.map((name) => ({ account_id: accountId, name })))
    .onConflict((conflict) => conflict.columns(['account_id', 'name']).doNothing())
    .execute()
  const tags = await tx
    .selectFrom('tags')
    .select('id')
    .where('account_id', '=', accountId)
    .where('name', 'in', wanted)
    .execute()
  await tx
    .insertInto('site_tags')
    .values(tags.map(({ id }) => ({ tag_id: id, site_id: siteId })))
    .onConflict((conflict) => conflict.columns(['tag_id', 'site_id']).doNothing())
    .execute()
}

/** How many tags an account has. */
export async function countTags(tx: Tx, accountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('tags')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Takes tags of an account off a site; a tag that no site has any more is gone. */
export async function removeTags(tx: Tx, accountId: number, siteId: number, ids: readonly number[]): Promise<void> {
  const own = tx.selectFrom('tags').select('id').where('account_id', '=', accountId).where('id', 'in', ids)
  await tx.deleteFrom('site_tags').where('site_id', '=', siteId).where('tag_id', 'in', own).execute()
  await tx
    .deleteFrom('tags')
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('site_tags').select('tag_id').whereRef('site_tags.tag_id', '=', 'tags.id'))),
    )
    .execute()
}

/** @returns whether that changed anything */
export async function setFavorite(tx: Tx, accountId: number, siteId: number, favorite: boolean): Promise<boolean> {
  const rank = favorite ? 0 : 1
  const { numUpdatedRows } = await tx
    .updateTable('site_access')
    .set({ rank })
    .where('account_id', '=', accountId)
    .where('site_id', '=', siteId)
    .where('rank', '!=', rank)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}
