import type { Selectable } from 'kysely'
import type { Tx } from '../../../platform/db/database.ts'
import type { PasskeyRow } from '../tables.ts'

export interface Passkey {
  readonly id: number
  readonly accountId: number
  readonly credentialId: string
  readonly hostName: string
  readonly publicKey: string
  readonly counter: number
  readonly transports: readonly string[]
  readonly name: string
  readonly createdAt: number
  readonly usedAt: number | null
}

const passkeyOf = (row: Selectable<PasskeyRow>): Passkey => ({
  id: row.id,
  accountId: row.account_id,
  credentialId: row.credential_id,
  hostName: row.host_name,
  publicKey: row.public_key,
  counter: row.counter,
  transports: JSON.parse(row.transports) as string[],
  name: row.name,
  createdAt: row.created_at,
  usedAt: row.used_at,
})

/** Returns the passkeys of an account, oldest first. */
export async function passkeysOfAccount(tx: Tx, accountId: number): Promise<Passkey[]> {
  const rows = await tx.selectFrom('passkeys').selectAll().where('account_id', '=', accountId).orderBy('id').execute()
  return rows.map(passkeyOf)
}

export async function findPasskey(tx: Tx, credentialId: string): Promise<Passkey | undefined> {
  const row = await tx.selectFrom('passkeys').selectAll().where('credential_id', '=', credentialId).executeTakeFirst()
  return row && passkeyOf(row)
}

/**
 * Adds a passkey.
 * @returns its id, or `undefined` when another account already has the credential
 */
export async function insertPasskey(tx: Tx, passkey: Omit<Passkey, 'id' | 'usedAt'>): Promise<number | undefined> {
  const row = await tx
    .insertInto('passkeys')
    .values({
      account_id: passkey.accountId,
      credential_id: passkey.credentialId,
      host_name: passkey.hostName,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: JSON.stringify(passkey.transports),
      name: passkey.name,
      created_at: passkey.createdAt,
      used_at: null,
    })
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id
}

/**
 * Stores the counter of a device that counts. It only increases, even if two sign-ins were checked at the same moment
 * (WebAuthn §6.1.1).
 * @returns false when the passkey was removed since, or another sign-in has counted as far
 */
export async function passkeyWasUsed(
  tx: Tx,
  id: number,
  { counter, now }: { counter: number; now: number },
): Promise<boolean> {
  const { numUpdatedRows } = await tx
    .updateTable('passkeys')
    .set({ counter, used_at: now })
    .where('id', '=', id)
    // 0 means that the device does not count.
    .where((row) => (counter === 0 ? row('counter', '=', 0) : row('counter', '<', counter)))
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/**
 * Removes a passkey.
 * @returns its name, or `undefined` when the account has no such passkey
 */
export async function removePasskey(tx: Tx, accountId: number, id: number): Promise<string | undefined> {
  const row = await tx
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('account_id', '=', accountId)
    .returning('name')
    .executeTakeFirst()
  return row?.name
}

/**
 * Records a challenge as used.
 * @returns false when it was used before, maybe at this very moment
 */
export async function spendChallenge(tx: Tx, hash: string, expiresAt: number): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await tx
    .insertInto('spent_challenges')
    .values({ hash, expires_at: expiresAt })
    .onConflict((conflict) => conflict.column('hash').doNothing())
    .executeTakeFirstOrThrow()
  return (numInsertedOrUpdatedRows ?? 0n) > 0n
}

/**
 * Deletes expired challenges.
 * @returns how many it deleted. Call again until it is 0
 */
export async function forgetSpentChallenges(tx: Tx, now: number, most: number): Promise<number> {
  const old = tx.selectFrom('spent_challenges').select('hash').where('expires_at', '<', now).limit(most)
  const { numDeletedRows } = await tx.deleteFrom('spent_challenges').where('hash', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
