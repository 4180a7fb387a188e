import { type Expression, type SqlBool, sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'
import { isOneOf, listFor } from '../../platform/db/precompiled.ts'
import type { SearchWordRow } from './tables.ts'

type Kind = SearchWordRow['kind']

/** The most matches of one word that are examined, so that a word of every site costs no more than a rare one. */
const MOST_LOOKED_AT = 300

/**
 * Returns the IDs that an account finds, exact words first. Each search word equals or begins one of the words of the
 * match. The caller checks whether the account may see it.
 */
export async function idsFound(tx: Tx, accountId: number, kind: Kind, words: readonly string[]): Promise<number[]> {
  if (words.length === 0) return []
  // Starts with the rarest word.
  let fewest: { word: string; ids: number[] } | undefined
  for (const word of words) {
    const rows = await tx
      .selectFrom('search_words as found')
      .select('found.about_id')
      .where('found.account_id', '=', accountId)
      .where('found.kind', '=', kind)
      .where(begins('found.word', word))
      .orderBy('found.word')
      .orderBy('found.about_id')
      .limit(MOST_LOOKED_AT)
      .execute()
    const ids = [...new Set(rows.map(({ about_id }) => about_id))]
    if (!fewest || ids.length < fewest.ids.length) fewest = { word, ids }
  }
  const ids = fewest?.ids ?? []
  if (words.length === 1 || ids.length === 0) return ids
  const rows = await tx
    .selectFrom('search_words')
    .select(['about_id', 'word'])
    .where(isOneOf(tx, 'about_id', listFor(tx, ids)))
    .where('kind', '=', kind)
    .where('account_id', '=', accountId)
    .execute()
  const wordsById = Map.groupBy(rows, ({ about_id }) => about_id)
  return ids.filter((id) => words.every((word) => wordsById.get(id)?.some((known) => known.word.startsWith(word))))
}

/** The end of a range of the index: nothing sorts after the last code point. */
const begins = (column: string, word: string): Expression<SqlBool> =>
  sql<SqlBool>`${sql.ref(column)} >= ${word} and ${sql.ref(column)} < ${`${word}\u{10ffff}`}`

/** Returns the first matches that `see` lets the account see, in the same order. */
export async function firstSeen<Row extends { readonly id: number }>(
  ids: readonly number[],
  limit: number,
  see: (some: readonly number[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const seen: Row[] = []
  // Few matches are hidden, so the first batch is nearly always enough.
  for (let at = 0; at < ids.length && seen.length < limit; at += limit) {
    const some = ids.slice(at, at + limit)
    const rows = new Map((await see(some)).map((row) => [row.id, row]))
    seen.push(...some.flatMap((id) => rows.get(id) ?? []))
  }
  return seen.slice(0, limit)
}

/** Returns which of the sites the account sees. */
export async function sitesSeen(tx: Tx, accountId: number, ids: readonly number[]) {
  return tx
    .selectFrom('site_access')
    .innerJoin('sites', 'sites.id', 'site_access.site_id')
    .select(['sites.id', 'sites.name', 'sites.display_name', 'sites.primary_domain', 'sites.staging'])
    .where('site_access.account_id', '=', accountId)
    .where(isOneOf(tx, 'site_access.site_id', listFor(tx, ids)))
    .where('sites.deleted_at', 'is', null)
    .execute()
}

/** Returns which of the people collaborate on a site of the account that is not deleted. */
export async function peopleSeen(tx: Tx, accountId: number, ids: readonly number[]) {
  return tx
    .selectFrom('accounts')
    .select(['accounts.id', 'accounts.email', 'accounts.name'])
    .where(isOneOf(tx, 'accounts.id', listFor(tx, ids)))
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('collaborators')
          .innerJoin('sites', 'sites.id', 'collaborators.site_id')
          .select('collaborators.id')
          .whereRef('collaborators.account_id', '=', 'accounts.id')
          .where('collaborators.owner_account_id', '=', accountId)
          .where('sites.deleted_at', 'is', null),
      ),
    )
    .execute()
}
