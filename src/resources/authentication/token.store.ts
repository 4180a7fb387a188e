import { announce, type Tx } from '../../platform/db/database.ts'
import { precompiled } from '../../platform/db/precompiled.ts'

/** The account and application that a token authenticates. */
export interface TokenOwner {
  readonly applicationId: number
  readonly accountId: number
  readonly accountEmail: string
  readonly isOwner: boolean
  readonly expiresAt: number
}

/**
 * Finds a token, including an expired one that is still stored.
 * @returns `undefined` for an unknown or revoked token, and for one of a revoked application or a suspended account
 */
export async function findToken(tx: Tx, hash: string): Promise<TokenOwner | undefined> {
  const [row] = await tokenRow(tx, { hash })
  return (
    row && {
      applicationId: row.id,
      accountId: row.account_id,
      accountEmail: row.email,
      isOwner: row.is_owner === 1,
      expiresAt: row.expires_at,
    }
  )
}

/** @returns the expiry of each token, without tokens that {@link findToken} would not find */
export async function liveTokens(tx: Tx, hashes: readonly string[]): Promise<Map<string, number>> {
  if (hashes.length === 0) return new Map()
  const rows = await tx
    .selectFrom('tokens')
    .innerJoin('applications', 'applications.id', 'tokens.application_id')
    .innerJoin('accounts', 'accounts.id', 'applications.account_id')
    .select(['tokens.hash', 'tokens.expires_at'])
    .where('tokens.hash', 'in', hashes)
    .where('tokens.revoked_at', 'is', null)
    .where('applications.revoked_at', 'is', null)
    .where('accounts.suspended_at', 'is', null)
    .execute()
  return new Map(rows.map(({ hash, expires_at }) => [hash, expires_at]))
}

const tokenRow = precompiled((tx, { hash }: { hash: string }) =>
  tx
    .selectFrom('tokens')
    .innerJoin('applications', 'applications.id', 'tokens.application_id')
    .innerJoin('accounts', 'accounts.id', 'applications.account_id')
    .select([
      'applications.id',
      'applications.account_id',
      'applications.is_owner',
      'accounts.email',
      'tokens.expires_at',
    ])
    .where('tokens.hash', '=', hash)
    .where('tokens.revoked_at', 'is', null)
    .where('applications.revoked_at', 'is', null)
    .where('accounts.suspended_at', 'is', null),
)

export async function insertToken(
  tx: Tx,
  values: { hash: string; applicationId: number; now: number; expiresAt: number },
): Promise<void> {
  await tx
    .insertInto('tokens')
    .values({
      hash: values.hash,
      application_id: values.applicationId,
      created_at: values.now,
      expires_at: values.expiresAt,
      revoked_at: null,
    })
    .execute()
}

/** Revokes a token. Only the application that got it can do so (RFC 7009 §2.1). */
export async function endToken(tx: Tx, values: { hash: string; applicationId: number; now: number }): Promise<void> {
  await tx
    .updateTable('tokens')
    .set({ revoked_at: values.now })
    .where('hash', '=', values.hash)
    .where('application_id', '=', values.applicationId)
    .where('revoked_at', 'is', null)
    .execute()
  await announce(tx, 'tokens')
}

/**
 * Deletes expired tokens, the oldest first.
 * @returns how many it deleted; call again until it is 0
 */
export async function forgetExpiredTokens(tx: Tx, now: number, most: number): Promise<number> {
  const expired = tx.selectFrom('tokens').select('hash').where('expires_at', '<', now).orderBy('expires_at').limit(most)
  const { numDeletedRows } = await tx.deleteFrom('tokens').where('hash', 'in', expired).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Returns the application of a client ID, with the hash of its secret and its account. */
export async function findClient(tx: Tx, clientId: string) {
  return tx
    .selectFrom('applications')
    .innerJoin('accounts', 'accounts.id', 'applications.account_id')
    .select([
      'applications.id',
      'applications.secret_hash',
      'applications.is_owner',
      'accounts.id as account_id',
      'accounts.name',
      'accounts.email',
      'accounts.suspended_at',
    ])
    .where('applications.client_id', '=', clientId)
    .where('applications.revoked_at', 'is', null)
    .executeTakeFirst()
}

export type ApiClient = NonNullable<Awaited<ReturnType<typeof findClient>>>

/** Deletes the tokens of an account, and so its sessions. */
export async function deleteTokensOfAccount(tx: Tx, accountId: number): Promise<void> {
  const applications = tx.selectFrom('applications').select('id').where('account_id', '=', accountId)
  await tx.deleteFrom('tokens').where('application_id', 'in', applications).execute()
  await announce(tx, 'tokens')
}
