import { announce, type Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'
import { insertToken } from '../authentication/public.ts'
import type { Session } from './session.ts'

/** The account that a session signs in. */
export interface SessionOwner {
  readonly applicationId: number
  readonly accountId: number
  readonly accountEmail: string
  readonly isOwner: boolean
  readonly session: {
    readonly id: number
    readonly provenAt: number
    readonly expiresAt: number
    /** The user agent of the browser where it began. */
    readonly origin: string
  }
}

/** @returns `undefined` for an unknown or ended session */
export async function findSession(tx: Tx, hash: string): Promise<SessionOwner | undefined> {
  const [row] = await sessionRow(tx, { hash })
  return (
    row && {
      applicationId: row.application_id,
      accountId: row.account_id,
      accountEmail: row.email,
      isOwner: row.is_owner === 1,
      session: { id: row.id, provenAt: row.proven_at, expiresAt: row.expires_at, origin: row.origin },
    }
  )
}

const sessionRow = precompiled((tx, { hash }: { hash: string }) =>
  tx
    .selectFrom('sessions')
    .innerJoin('tokens', 'tokens.hash', 'sessions.token_hash')
    .innerJoin('applications', 'applications.id', 'tokens.application_id')
    .innerJoin('accounts', 'accounts.id', 'sessions.account_id')
    .select([
      'sessions.id',
      'sessions.account_id',
      'sessions.proven_at',
      'sessions.origin',
      'tokens.application_id',
      'tokens.expires_at',
      'applications.is_owner',
      'accounts.email',
    ])
    .where('sessions.token_hash', '=', hash)
    .where('tokens.revoked_at', 'is', null)
    .where('applications.revoked_at', 'is', null)
    .where('accounts.suspended_at', 'is', null),
)

export async function insertSession(
  tx: Tx,
  values: {
    readonly hash: string
    readonly applicationId: number
    readonly accountId: number
    readonly userAgent: string
    readonly ipAddress: string
    readonly origin: string
    readonly now: number
    readonly expiresAt: number
  },
): Promise<void> {
  const { hash, applicationId, accountId, userAgent, ipAddress, origin, now, expiresAt } = values
  await insertToken(tx, { hash, applicationId, now, expiresAt })
  await tx
    .insertInto('sessions')
    .values({
      token_hash: hash,
      account_id: accountId,
      created_at: now,
      seen_at: now,
      proven_at: now,
      user_agent: userAgent,
      ip_address: ipAddress,
      origin,
    })
    .execute()
}

/** Returns the active sessions, the most recently used first. */
export async function sessionsOfAccount(tx: Tx, accountId: number, now: number): Promise<Session[]> {
  const rows = await live(tx, accountId, now)
    .orderBy('sessions.seen_at', 'desc')
    .orderBy('sessions.id', 'desc')
    .execute()
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    userAgent: row.user_agent,
    ipAddress: row.ip_address,
  }))
}

const live = (tx: Tx, accountId: number, now: number) =>
  tx
    .selectFrom('sessions')
    .innerJoin('tokens', 'tokens.hash', 'sessions.token_hash')
    .select([
      'sessions.id',
      'sessions.created_at',
      'sessions.seen_at',
      'tokens.expires_at',
      'sessions.user_agent',
      'sessions.ip_address',
    ])
    .where('sessions.account_id', '=', accountId)
    .where('tokens.revoked_at', 'is', null)
    .where('tokens.expires_at', '>', now)

/**
 * Ends a session. Its row goes with the row of its token, which is deleted after it expires.
 * @returns false when the account has no such session
 */
export async function closeSession(tx: Tx, accountId: number, id: number, now: number): Promise<boolean> {
  return (await end(tx, accountId, [id], now)) > 0
}

/**
 * Ends all sessions of the account.
 * @param but stays
 * @returns how many ended
 */
export async function closeSessions(tx: Tx, accountId: number, now: number, but?: number): Promise<number> {
  const ids = (await sessionsOfAccount(tx, accountId, now)).map(({ id }) => id).filter((id) => id !== but)
  return end(tx, accountId, ids, now)
}

async function end(tx: Tx, accountId: number, ids: readonly number[], now: number): Promise<number> {
  if (ids.length === 0) return 0
  const hashes = tx
    .selectFrom('sessions')
    .select('token_hash')
    .where('account_id', '=', accountId)
    .where('id', 'in', ids)
  const { numUpdatedRows } = await tx
    .updateTable('tokens')
    .set({ revoked_at: now })
    .where('hash', 'in', hashes)
    .where('revoked_at', 'is', null)
    .executeTakeFirstOrThrow()
  await announce(tx, 'tokens')
  return Number(numUpdatedRows)
}

/** Records a use and extends the session. */
export async function renewSession(
  tx: Tx,
  id: number,
  { now, expiresAt }: { now: number; expiresAt: number },
): Promise<void> {
  await tx.updateTable('sessions').set({ seen_at: now }).where('id', '=', id).execute()
  const hash = tx.selectFrom('sessions').select('token_hash').where('id', '=', id)
  await tx.updateTable('tokens').set({ expires_at: expiresAt }).where('hash', 'in', hash).execute()
  await announce(tx, 'tokens')
}

/** Records that the person has just confirmed the password. */
export async function proveSession(tx: Tx, id: number, now: number): Promise<void> {
  await tx.updateTable('sessions').set({ proven_at: now }).where('id', '=', id).execute()
  await announce(tx, 'tokens')
}
