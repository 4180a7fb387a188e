import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import { noteSite } from '../search/public.ts'

/**
 * Adds tags of an account to a site, and creates missing tags.
 * @returns the names that the site did not have, so exactly those that this transaction added
 */
export async function addTags(tx: Tx, accountId: number, siteId: number, names: readonly string[]): Promise<string[]> {
  const wanted = [...new Set(names.map((name) => name.trim()))]
  if (wanted.length === 0) return []
  // The row stores the site's place in lists, so the site must not move or be deleted meanwhile.
  await lockForUpdate(tx, 'sites', siteId)
  // A tag that loses its last site is deleted. Locks the tags, so that none is added to a site meanwhile.
  await lockForUpdate(tx, 'accounts', accountId)
  await tx
    .insertInto('tags')
    .values(wanted.map((name) => ({ account_id: accountId, name })))
    .onConflict((conflict) => conflict.columns(['account_id', 'name']).doNothing())
    .execute()
  const tags = await tx
    .selectFrom('tags')
    .select(['id', 'name'])
    .where('account_id', '=', accountId)
    .where('name', 'in', wanted)
    .execute()
  // An account cannot tag a site that it does not see.
  const seen = tx
    .selectFrom('tags')
    .innerJoin('site_access', 'site_access.account_id', 'tags.account_id')
    .select(['tags.id', 'site_access.site_id', 'site_access.site_name', 'site_access.rank', 'site_access.is_deleted'])
    .where('site_access.site_id', '=', siteId)
    .where(
      'tags.id',
      'in',
      tags.map(({ id }) => id),
    )
  const added = await tx
    .insertInto('site_tags')
    .columns(['tag_id', 'site_id', 'site_name', 'rank', 'is_deleted'])
    .expression(seen)
    .onConflict((conflict) => conflict.columns(['tag_id', 'site_id']).doNothing())
    .returning('tag_id')
    .execute()
  if (added.length > 0) await noteSite(tx, siteId, accountId)
  const ids = new Set(added.map(({ tag_id }) => tag_id))
  const newNames = new Set(tags.filter(({ id }) => ids.has(id)).map(({ name }) => name))
  return wanted.filter((name) => newNames.has(name))
}

/** Returns the tags that an account gave a site, in order of ID. */
export const tagsOfSite = (tx: Tx, accountId: number, siteId: number): Promise<{ id: number; name: string }[]> =>
  tx
    .selectFrom('tags')
    .innerJoin('site_tags', 'site_tags.tag_id', 'tags.id')
    .select(['tags.id', 'tags.name'])
    .where('tags.account_id', '=', accountId)
    .where('site_tags.site_id', '=', siteId)
    .orderBy('tags.id')
    .execute()

/** Counts the tags of an account. */
export async function countTags(tx: Tx, accountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('tags')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Removes tags of an account from a site. Deletes tags that have no site left.
 * @returns the names of those that the site had
 */
export async function removeTags(tx: Tx, accountId: number, siteId: number, ids: readonly number[]): Promise<string[]> {
  if (ids.length === 0) return []
  await lockForUpdate(tx, 'accounts', accountId)
  const own = await tx
    .selectFrom('tags')
    .select(['id', 'name'])
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
    .execute()
  if (own.length === 0) return []
  const taken = await tx
    .deleteFrom('site_tags')
    .where('site_id', '=', siteId)
    .where(
      'tag_id',
      'in',
      own.map(({ id }) => id),
    )
    .returning('tag_id')
    .execute()
  await deleteUnused(
    tx,
    own.map(({ id }) => id),
  )
  if (taken.length > 0) await noteSite(tx, siteId, accountId)
  const gone = new Set(taken.map(({ tag_id }) => tag_id))
  return own.filter(({ id }) => gone.has(id)).map(({ name }) => name)
}

/** Removes all tags from a site, or those of one account. Deletes tags that have no site left. */
export async function deleteTagsOfSite(tx: Tx, siteId: number, accountId?: number): Promise<void> {
  const owners = accountId === undefined ? await accountsWithTagsOn(tx, siteId) : [accountId]
  if (owners.length === 0) return
  // Blocks these accounts from adding tags to this site or another.
  for (const id of owners) await lockForUpdate(tx, 'accounts', id)
  const taken = await tx
    .deleteFrom('site_tags')
    .where('site_id', '=', siteId)
    .where('tag_id', 'in', tx.selectFrom('tags').select('id').where('account_id', 'in', owners))
    .returning('tag_id')
    .execute()
  await deleteUnused(
    tx,
    taken.map(({ tag_id }) => tag_id),
  )
}

/** In order of ID, which is the order of locking. */
async function accountsWithTagsOn(tx: Tx, siteId: number): Promise<number[]> {
  const rows = await tx
    .selectFrom('site_tags')
    .innerJoin('tags', 'tags.id', 'site_tags.tag_id')
    .select('tags.account_id as accountId')
    .distinct()
    .where('site_tags.site_id', '=', siteId)
    .orderBy('tags.account_id')
    .execute()
  return rows.map(({ accountId }) => accountId)
}

/** Locks tags whose accounts are locked, so that none is added to a site meanwhile. */
async function deleteUnused(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await tx
    .deleteFrom('tags')
    .where('id', 'in', ids)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('site_tags').select('tag_id').whereRef('site_tags.tag_id', '=', 'tags.id'))),
    )
    .execute()
}

/** @returns whether that changed anything */
export async function setFavorite(tx: Tx, accountId: number, siteId: number, favorite: boolean): Promise<boolean> {
  const rank = favorite ? 0 : 1
  // Blocks new tags on the site, which would be stored at the old place.
  await lockForUpdate(tx, 'sites', siteId)
  const { numUpdatedRows } = await tx
    .updateTable('site_access')
    .set({ rank })
    .where('account_id', '=', accountId)
    .where('site_id', '=', siteId)
    .where('rank', '!=', rank)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  await tx
    .updateTable('site_tags')
    .set({ rank })
    .where('site_id', '=', siteId)
    .where('tag_id', 'in', tx.selectFrom('tags').select('id').where('account_id', '=', accountId))
    .execute()
  return true
}

/** Deletes the tags of an account, and their places on sites. */
export async function deleteTagsOfAccount(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('tags').where('account_id', '=', accountId).execute()
}
