import { hash } from 'node:crypto'
import type { Tx } from '../../platform/db/database.ts'

/** The most links of a site. The oldest are deleted first. */
const MOST = 100

export interface NewLink {
  readonly siteId: number
  readonly accountId: number
  readonly token: string
  /** Milliseconds UTC. */
  readonly expiresAt: number
}

export interface Link {
  readonly id: number
  readonly accountId: number
  readonly expiresAt: number
  /** Null until the link is opened. */
  readonly endsAt: number | null
  readonly userAgent: string | null
}

const columns = [
  'id',
  'account_id as accountId',
  'expires_at as expiresAt',
  'ends_at as endsAt',
  'user_agent as userAgent',
] as const

export async function insertDatabaseLink(tx: Tx, { siteId, accountId, token, expiresAt }: NewLink): Promise<void> {
  const newest = tx.selectFrom('database_admin_links').select('id').where('site_id', '=', siteId).orderBy('id', 'desc')
  const over = await newest
    .offset(MOST - 1)
    .limit(1)
    .executeTakeFirst()
  if (over)
    await tx.deleteFrom('database_admin_links').where('site_id', '=', siteId).where('id', '<=', over.id).execute()
  await tx
    .insertInto('database_admin_links')
    .values({
      ...{ site_id: siteId, account_id: accountId, token_hash: hashOf(token), expires_at: expiresAt },
      ...{ session_hash: null, user_agent: null, ends_at: null },
    })
    .execute()
}

export async function findDatabaseLink(tx: Tx, siteId: number, token: string): Promise<Link | undefined> {
  return tx
    .selectFrom('database_admin_links')
    .select(columns)
    .where('site_id', '=', siteId)
    .where('token_hash', '=', hashOf(token))
    .executeTakeFirst()
}

/** @returns false when another browser was faster */
export async function beginSession(
  tx: Tx,
  id: number,
  { session, userAgent, endsAt }: { session: string; userAgent: string; endsAt: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('database_admin_links')
    .set({ session_hash: hashOf(session), user_agent: userAgent, ends_at: endsAt })
    .where('id', '=', id)
    .where('session_hash', 'is', null)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function findDatabaseSession(tx: Tx, siteId: number, session: string): Promise<Link | undefined> {
  return tx
    .selectFrom('database_admin_links')
    .select(columns)
    .where('site_id', '=', siteId)
    .where('session_hash', '=', hashOf(session))
    .executeTakeFirst()
}

export async function deleteLinksOfSite(tx: Tx, siteId: number): Promise<void> {
  await tx.deleteFrom('database_admin_links').where('site_id', '=', siteId).execute()
}

const hashOf = (secret: string): string => hash('sha256', secret, 'hex')

/** Deletes the links and sessions of an account. */
export async function deleteLinksOfAccount(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('database_admin_links').where('account_id', '=', accountId).execute()
}
