import { sql } from 'kysely'
import type { Tx } from '../../platform/db/database.ts'

/** What an account signs in with. */
export interface Credentials {
  readonly accountId: number
  readonly email: string
  /** `undefined` if no password was ever set. */
  readonly passwordHash: string | undefined
  /** Sealed secret of the authenticator app that supplies codes, and the last step that was used. */
  readonly totp: { readonly secret: string; readonly lastStep: number } | undefined
}

/**
 * @param who the account's id, or its normalized address
 * @returns `undefined` when the account does not exist
 */
export async function findCredentials(
  tx: Tx,
  who: { id: number } | { email: string },
): Promise<Credentials | undefined> {
  const query = tx
    .selectFrom('accounts')
    .leftJoin('passwords', 'passwords.account_id', 'accounts.id')
    .leftJoin('totp_secrets', 'totp_secrets.account_id', 'accounts.id')
    .select([
      'accounts.id',
      'accounts.email',
      'passwords.hash',
      'totp_secrets.secret',
      'totp_secrets.confirmed_at',
      'totp_secrets.last_step',
    ])
  const row = await ('id' in who
    ? query.where('accounts.id', '=', who.id)
    : query.where('accounts.email', '=', who.email)
  ).executeTakeFirst()
  if (!row) return undefined
  return {
    accountId: row.id,
    email: row.email,
    passwordHash: row.hash ?? undefined,
    totp:
      row.secret !== null && row.confirmed_at !== null && row.last_step !== null
        ? { secret: row.secret, lastStep: row.last_step }
        : undefined,
  }
}

export async function setPassword(tx: Tx, accountId: number, hash: string, now: number): Promise<void> {
  await tx
    .insertInto('passwords')
    .values({ account_id: accountId, hash, set_at: now })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ hash, set_at: now }))
    .execute()
}

/**
 * Replaces a password.
 * @returns false, and changes nothing, when the known password is outdated
 */
export async function replacePassword(
  tx: Tx,
  accountId: number,
  { from, to, now }: { readonly from: string | undefined; readonly to: string; readonly now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('passwords')
    .set({ hash: to, set_at: now })
    .where('account_id', '=', accountId)
    .where('hash', '=', from ?? '')
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

export async function hasPassword(tx: Tx, accountId: number): Promise<boolean> {
  const row = await tx
    .selectFrom('passwords')
    .select('account_id')
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  return row !== undefined
}

export async function insertPasswordLink(
  tx: Tx,
  {
    hash,
    accountId,
    operationId,
    now,
    expiresAt,
  }: { hash: string; accountId: number; operationId?: number | undefined; now: number; expiresAt: number },
): Promise<void> {
  await tx
    .insertInto('password_links')
    .values({ hash, account_id: accountId, created_at: now, expires_at: expiresAt, operation_id: operationId ?? null })
    .execute()
}

/**
 * Counts unused links created since a time. All attempts of an operation count as one, and those of `exceptOperationId`
 * do not count.
 */
export async function countFreshLinks(
  tx: Tx,
  { accountId, since, exceptOperationId }: { accountId: number; since: number; exceptOperationId: number },
): Promise<number> {
  const { count } = await tx
    .selectFrom('password_links')
    .select(sql<number>`count(distinct coalesce(cast(operation_id as text), hash))`.as('count'))
    .where('account_id', '=', accountId)
    .where('created_at', '>', since)
    .where((eb) => eb.or([eb('operation_id', 'is', null), eb('operation_id', '<>', exceptOperationId)]))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/**
 * Returns whether a mail with a link is already being sent.
 * @param type of the operation that sends it
 */
export async function isMailing(tx: Tx, accountId: number, type: string): Promise<boolean> {
  const row = await tx
    .selectFrom('operations')
    .select('id')
    .where('account_id', '=', accountId)
    .where('type', '=', type)
    .where('finished_at', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/**
 * Finds the account of a link.
 * @returns `undefined` for a link that is unknown or too old
 */
export async function accountOfLink(
  tx: Tx,
  hash: string,
  now: number,
): Promise<{ accountId: number; email: string } | undefined> {
  return tx
    .selectFrom('password_links')
    .innerJoin('accounts', 'accounts.id', 'password_links.account_id')
    .select(['password_links.account_id as accountId', 'accounts.email'])
    .where('password_links.hash', '=', hash)
    .where('password_links.expires_at', '>', now)
    .executeTakeFirst()
}

/**
 * Uses a valid link, and deletes all others of its account.
 * @returns false when another request has just used it
 */
export async function spendLink(tx: Tx, hash: string, accountId: number, now: number): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('password_links')
    .where('hash', '=', hash)
    .where('expires_at', '>', now)
    .executeTakeFirstOrThrow()
  await tx.deleteFrom('password_links').where('account_id', '=', accountId).execute()
  return numDeletedRows > 0n
}

/**
 * Deletes expired links.
 * @returns how many it deleted. Call again until it is 0
 */
export async function forgetLinks(tx: Tx, now: number, most: number): Promise<number> {
  const old = tx.selectFrom('password_links').select('hash').where('expires_at', '<', now).limit(most)
  const { numDeletedRows } = await tx.deleteFrom('password_links').where('hash', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

export interface Totp {
  readonly secret: string
  readonly isConfirmed: boolean
}

export async function findTotp(tx: Tx, accountId: number): Promise<Totp | undefined> {
  const row = await tx.selectFrom('totp_secrets').selectAll().where('account_id', '=', accountId).executeTakeFirst()
  return row && { secret: row.secret, isConfirmed: row.confirmed_at !== null }
}

/** Stores an unconfirmed secret, in place of an earlier unconfirmed one. */
export async function storeTotpSecret(tx: Tx, accountId: number, secret: string): Promise<void> {
  await tx
    .insertInto('totp_secrets')
    .values({ account_id: accountId, secret, confirmed_at: null, last_step: 0 })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet({ secret, confirmed_at: null, last_step: 0 }))
    .execute()
}

/**
 * Activates the secret, with recovery codes.
 * @returns false when one is already active, so that only one of two simultaneous requests returns its codes
 */
export async function activateTotp(
  tx: Tx,
  accountId: number,
  { step, codeHashes, now }: { step: number; codeHashes: readonly string[]; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('totp_secrets')
    .set({ confirmed_at: now, last_step: step })
    .where('account_id', '=', accountId)
    .where('confirmed_at', 'is', null)
    .executeTakeFirstOrThrow()
  if (numUpdatedRows === 0n) return false
  await tx
    .insertInto('recovery_codes')
    .values(codeHashes.map((hash) => ({ account_id: accountId, hash })))
    .execute()
  return true
}

/**
 * Records the use of a code.
 * @returns false when a code of this step, or a later one, was already used
 */
export async function useStep(tx: Tx, accountId: number, step: number): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('totp_secrets')
    .set({ last_step: step })
    .where('account_id', '=', accountId)
    .where('last_step', '<', step)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Uses up a recovery code.
 * @returns false when the code does not exist or was already used
 */
export async function useRecoveryCode(tx: Tx, accountId: number, hash: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('recovery_codes')
    .where('account_id', '=', accountId)
    .where('hash', '=', hash)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

export async function countRecoveryCodes(tx: Tx, accountId: number): Promise<number> {
  const { count } = await tx
    .selectFrom('recovery_codes')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function removeTotp(tx: Tx, accountId: number): Promise<void> {
  await tx.deleteFrom('totp_secrets').where('account_id', '=', accountId).execute()
  await tx.deleteFrom('recovery_codes').where('account_id', '=', accountId).execute()
}

/** Deletes all that lets people sign in to an account. */
export async function deleteSignInsOfAccount(tx: Tx, accountId: number): Promise<void> {
  for (const table of ['passwords', 'password_links', 'totp_secrets', 'recovery_codes', 'passkeys'] as const)
    await tx.deleteFrom(table).where('account_id', '=', accountId).execute()
}
