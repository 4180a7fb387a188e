import { hash } from 'node:crypto'
import type { Tx } from '../../platform/db/database.ts'

/** How long used and expired links are kept, so that a second visit gets an explanation. */
const KEPT_MS = 3_600_000
/** The most links of a site. The oldest are deleted first. */
const MOST = 100

export interface NewLoginLink {
  readonly siteId: number
  readonly madeById: number
  /** The person whom the link logs in. */
  readonly accountId: number
  readonly token: string
  readonly login: string
  readonly userAgent: string
  /** Milliseconds UTC. */
  readonly expiresAt: number
}

export interface LoginLink {
  readonly id: number
  readonly madeById: number
  readonly accountId: number
  readonly login: string
  readonly userAgent: string
  readonly expiresAt: number
  readonly usedAt: number | null
}

const columns = [
  'id',
  'made_by_id as madeById',
  'account_id as accountId',
  'login',
  'user_agent as userAgent',
  'expires_at as expiresAt',
  'used_at as usedAt',
] as const

export async function insertLoginLink(tx: Tx, link: NewLoginLink, now: number): Promise<void> {
  const { siteId } = link
  await tx
    .deleteFrom('login_links')
    .where('expires_at', '<', now - KEPT_MS)
    .execute()
  const newest = tx.selectFrom('login_links').select('id').where('site_id', '=', siteId).orderBy('id', 'desc')
  const over = await newest
    .offset(MOST - 1)
    .limit(1)
    .executeTakeFirst()
  if (over) await tx.deleteFrom('login_links').where('site_id', '=', siteId).where('id', '<=', over.id).execute()
  await tx
    .insertInto('login_links')
    .values({
      site_id: siteId,
      made_by_id: link.madeById,
      account_id: link.accountId,
      token_hash: hashOf(link.token),
      login: link.login,
      user_agent: link.userAgent,
      expires_at: link.expiresAt,
      used_at: null,
    })
    .execute()
}

/**
 * Claims a link that nobody has opened yet.
 * @returns the link as it was, or `undefined` if there is none
 */
export async function openLoginLink(
  tx: Tx,
  { siteId, token, now }: { siteId: number; token: string; now: number },
): Promise<LoginLink | undefined> {
  const link = tx
    .selectFrom('login_links')
    .select(columns)
    .where('site_id', '=', siteId)
    .where('token_hash', '=', hashOf(token))
  const found = await link.executeTakeFirst()
  if (!found || found.usedAt !== null) return found
  const marked = await tx
    .updateTable('login_links')
    .set({ used_at: now })
    .where('id', '=', found.id)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow()
  // Another request was faster.
  return marked.numUpdatedRows > 0n ? found : { ...found, usedAt: now }
}

export async function deleteLoginLinksOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('login_links').where('site_id', '=', siteId).execute()
}

const hashOf = (token: string): string => hash('sha256', token, 'hex')

/** Deletes the links that an account made, and those for its person. */
export async function deleteLoginLinksOfAccount(tx: Tx, accountId: number): Promise<void> {
  for (const column of ['made_by_id', 'account_id'] as const)
    await tx.deleteFrom('login_links').where(column, '=', accountId).execute()
}
