import type { Tx } from '../../platform/db/database.ts'

/** How many contents of an account are remembered, besides the current ones. */
const MOST_REMEMBERED = 500

/** Identifies a current or earlier content of a file. */
interface Key {
  readonly accountId: number
  readonly slug: string
  readonly sha256: string
}

/**
 * Stores fetched content until it is used, or other content is fetched.
 * @param current what sites have now
 */
export async function keepContent(tx: Tx, key: Key, content: Uint8Array, current: string | null): Promise<void> {
  const { accountId, slug, sha256 } = key
  await dropUnused(tx, key, current)
  await tx
    .insertInto('mu_plugin_contents')
    .values({ account_id: accountId, slug, sha256, content, used_at: null })
    .onConflict((conflict) => conflict.columns(['account_id', 'slug', 'sha256']).doUpdateSet({ content }))
    .execute()
}

export async function muPluginContent(tx: Tx, { accountId, slug, sha256 }: Key): Promise<Uint8Array | undefined> {
  const row = await tx
    .selectFrom('mu_plugin_contents')
    .select('content')
    .where('account_id', '=', accountId)
    .where('slug', '=', slug)
    .where('sha256', '=', sha256)
    .executeTakeFirst()
  return row?.content ?? undefined
}

/**
 * Makes this the content for sites. Of earlier contents, keeps only the hash.
 * @returns false when it no longer exists
 */
export async function useContent(tx: Tx, key: Key, now: number): Promise<boolean> {
  const { accountId, slug, sha256 } = key
  const { numUpdatedRows } = await tx
    .updateTable('mu_plugin_contents')
    .set({ used_at: now })
    .where('account_id', '=', accountId)
    .where('slug', '=', slug)
    .where('sha256', '=', sha256)
    .where('content', 'is not', null)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  await dropUnused(tx, key, sha256)
  const newest = tx
    .selectFrom('mu_plugin_contents')
    .select('id')
    .where('account_id', '=', accountId)
    .where('content', 'is', null)
    .orderBy('used_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MOST_REMEMBERED)
  await tx
    .deleteFrom('mu_plugin_contents')
    .where('account_id', '=', accountId)
    .where('content', 'is', null)
    .where('id', 'not in', newest)
    .execute()
  return true
}

/**
 * Deletes content that was fetched and not used.
 * @param current what sites have now
 */
export async function dropUnused(
  tx: Tx,
  { accountId, slug }: Pick<Key, 'accountId' | 'slug'>,
  current: string | null,
): Promise<void> {
  // An earlier content that was fetched again.
  await tx
    .updateTable('mu_plugin_contents')
    .set({ content: null })
    .where('account_id', '=', accountId)
    .where('slug', '=', slug)
    .where('sha256', '<>', current ?? '')
    .where('used_at', 'is not', null)
    .execute()
  await tx
    .deleteFrom('mu_plugin_contents')
    .where('account_id', '=', accountId)
    .where('slug', '=', slug)
    .where('used_at', 'is', null)
    .execute()
}

/**
 * Returns the SHA-256 of all earlier contents of an account's files, by file name.
 * @param slug limits the result to this file
 */
export async function knownContents(tx: Tx, accountId: number, slug?: string): Promise<Map<string, Set<string>>> {
  let query = tx
    .selectFrom('mu_plugin_contents')
    .select(['slug', 'sha256'])
    .where('account_id', '=', accountId)
    .where('used_at', 'is not', null)
  if (slug !== undefined) query = query.where('slug', '=', slug)
  const known = new Map<string, Set<string>>()
  for (const row of await query.execute()) known.set(row.slug, (known.get(row.slug) ?? new Set()).add(row.sha256))
  return known
}
