import { lockForUpdate, type Tx } from '../../platform/db/database.ts'
import type { SearchWordRow } from './tables.ts'
import { foldedWords } from './words.ts'

/*
 * The words by which accounts find sites and people. Call each function in the transaction that changes the source of
 * the words.
 */

type Kind = SearchWordRow['kind']

/** Rows of one statement: SQLite accepts 32,766 parameters. */
const AT_ONCE = 1000

/**
 * Updates the words by which accounts find a site.
 * @param accountId limits it to this account
 */
export async function noteSite(tx: Tx, siteId: number, accountId?: number): Promise<void> {
  // Keeps others from changing its names or tags meanwhile.
  await lockForUpdate(tx, 'sites', siteId)
  const site = await tx.selectFrom('sites').select(['name', 'display_name']).where('id', '=', siteId).executeTakeFirst()
  if (!site) return
  const routes = await tx.selectFrom('routes').select('host_name').where('site_id', '=', siteId).execute()
  const ofAll = [site.name, site.display_name, ...routes.map(({ host_name }) => host_name)]
  const access = tx.selectFrom('site_access').select('account_id').where('site_id', '=', siteId)
  const seers = await (accountId === undefined ? access : access.where('account_id', '=', accountId)).execute()
  const tags = await tx
    .selectFrom('site_tags')
    .innerJoin('tags', 'tags.id', 'site_tags.tag_id')
    .select(['tags.account_id', 'tags.name'])
    .where('site_tags.site_id', '=', siteId)
    .execute()
  await withdrawSite(tx, siteId, accountId)
  const rows = seers.flatMap(({ account_id }) => {
    const own = tags.filter((tag) => tag.account_id === account_id).map(({ name }) => name)
    return rowsOf(account_id, 'site', siteId, [...ofAll, ...own])
  })
  await insert(tx, rows)
}

/**
 * Removes a site from the search.
 * @param accountId limits it to this account
 */
export async function withdrawSite(tx: Tx, siteId: number, accountId?: number): Promise<void> {
  const words = tx.deleteFrom('search_words').where('about_id', '=', siteId).where('kind', '=', 'site')
  await (accountId === undefined ? words : words.where('account_id', '=', accountId)).execute()
}

/** Lets the owner of sites find a collaborator of one of them. */
export async function notePerson(tx: Tx, ownerId: number, accountId: number): Promise<void> {
  const account = await tx
    .selectFrom('accounts')
    .select(['email', 'name'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  await insert(tx, rowsOf(ownerId, 'person', accountId, [account.email, account.name]))
}

/** Updates the names of an account, for everyone who finds it. */
export async function noteAccount(tx: Tx, accountId: number): Promise<void> {
  await lockForUpdate(tx, 'accounts', accountId)
  const finders = await tx
    .deleteFrom('search_words')
    .where('about_id', '=', accountId)
    .where('kind', '=', 'person')
    .returning('account_id')
    .execute()
  for (const ownerId of new Set(finders.map(({ account_id }) => account_id))) await notePerson(tx, ownerId, accountId)
}

/** Removes a person who no longer collaborates on any of the owner's sites. */
export async function forgetPersonOf(tx: Tx, ownerId: number, accountId: number): Promise<void> {
  await tx
    .deleteFrom('search_words')
    .where('about_id', '=', accountId)
    .where('kind', '=', 'person')
    .where('account_id', '=', ownerId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('collaborators')
            .select('id')
            .where('owner_account_id', '=', ownerId)
            .where('account_id', '=', accountId),
        ),
      ),
    )
    .execute()
}

const rowsOf = (account_id: number, kind: Kind, about_id: number, texts: readonly string[]): SearchWordRow[] =>
  // Rows are always locked in the same order.
  foldedWords(texts.join(' '))
    .sort()
    .map((word) => ({ account_id, kind, about_id, word }))

async function insert(tx: Tx, rows: readonly SearchWordRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += AT_ONCE)
    await tx
      .insertInto('search_words')
      .values(rows.slice(at, at + AT_ONCE))
      .onConflict((conflict) => conflict.doNothing())
      .execute()
}

/** Deletes the words by which an account finds others, and those by which others find its person. */
export async function deleteWordsOfAccount(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('search_words').where('account_id', '=', accountId).execute()
  await tx.deleteFrom('search_words').where('about_id', '=', accountId).where('kind', '=', 'person').execute()
}
