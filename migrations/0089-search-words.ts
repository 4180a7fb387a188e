import { sql } from 'kysely'
import type { Migration } from 'kysely/migration'
import { type AnyDb, isPostgresDb } from './columns.ts'

/** The words by which accounts find sites and people, filled for existing sites and people. */
export const searchWords: Migration = {
  async up(db: AnyDb) {
    await db.schema
      .createTable('search_words')
      .addColumn('account_id', 'bigint', (column) => column.notNull())
      .addColumn('kind', 'text', (column) => column.notNull())
      .addColumn('about_id', 'bigint', (column) => column.notNull())
      // Ranges of words are ranges of bytes, in any collation of the database.
      .addColumn('word', isPostgresDb(db) ? sql`text collate "C"` : 'text', (column) => column.notNull())
      .addPrimaryKeyConstraint('search_words_pk', ['about_id', 'kind', 'account_id', 'word'])
      .execute()
    await db.schema
      .createIndex('search_words_order')
      .on('search_words')
      .columns(['account_id', 'kind', 'word', 'about_id'])
      .execute()
    await fill(db, 'site', siteTexts)
    await fill(db, 'person', people)
  },
}

const AT_ONCE = 500

interface Text {
  account_id: number
  about_id: number
  text: string
}

/** Reads in batches, so that a large installation fits into memory. */
async function fill(db: AnyDb, kind: string, read: (db: AnyDb, after: number) => Promise<Text[]>): Promise<void> {
  for (let after = 0; ; ) {
    const texts = await read(db, after)
    if (texts.length === 0) return
    const rows = new Map<string, object>()
    for (const { account_id, about_id, text } of texts) {
      after = Math.max(after, Number(about_id))
      for (const word of wordsOf(text))
        rows.set(`${account_id} ${about_id} ${word}`, { account_id, kind, about_id, word })
    }
    const all = [...rows.values()]
    for (let at = 0; at < all.length; at += AT_ONCE)
      await db
        .insertInto('search_words')
        .values(all.slice(at, at + AT_ONCE))
        .execute()
  }
}

async function siteTexts(db: AnyDb, after: number): Promise<Text[]> {
  const sites = await db
    .selectFrom('sites')
    .select('id')
    .where('id', '>', after)
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()
  const ids = sites.map(({ id }: { id: number }) => id)
  if (ids.length === 0) return []
  const of = (text: string) =>
    db
      .selectFrom('site_access')
      .innerJoin('sites', 'sites.id', 'site_access.site_id')
      .where('site_access.site_id', 'in', ids)
      .select(['site_access.account_id', 'site_access.site_id as about_id', `${text} as text`])
  const texts = [
    of('sites.name'),
    of('sites.display_name'),
    of('routes.host_name').innerJoin('routes', 'routes.site_id', 'site_access.site_id'),
    of('tags.name')
      .innerJoin('site_tags', 'site_tags.site_id', 'site_access.site_id')
      .innerJoin('tags', (join) =>
        join.onRef('tags.id', '=', 'site_tags.tag_id').onRef('tags.account_id', '=', 'site_access.account_id'),
      ),
  ]
  const found: Text[] = []
  for (const query of texts) found.push(...((await query.execute()) as Text[]))
  return found
}

async function people(db: AnyDb, after: number): Promise<Text[]> {
  const some = await db
    .selectFrom('accounts')
    .select(['id', 'email', 'name'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()
  if (some.length === 0) return []
  const owners = await db
    .selectFrom('collaborators')
    .select(['owner_account_id', 'account_id'])
    .distinct()
    .where(
      'account_id',
      'in',
      some.map(({ id }: { id: number }) => id),
    )
    .execute()
  const texts = owners.flatMap(({ owner_account_id, account_id }: { owner_account_id: number; account_id: number }) => {
    const { email, name } = some.find(({ id }: { id: number }) => Number(id) === Number(account_id)) ?? {}
    return [email, name].map((text) => ({ account_id: owner_account_id, about_id: account_id, text: text as string }))
  })
  // A batch without rows for any account still advances.
  const last = some.at(-1)?.id as number
  return [...texts, { account_id: 0, about_id: last, text: '' }]
}

const wordsOf = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu)
    ?.map((word) => word.slice(0, 64)) ?? []
