import { lockForUpdate } from '../../../platform/db/database.ts'
import { Problem } from '../../../platform/http/problem.ts'
import type { Context } from '../../kit/context.ts'
import { problems } from '../problems.ts'
import { takeChallenge } from './challenge.ts'
import { insertPasskey, type Passkey, passkeysOfAccount } from './passkey.store.ts'
import { MOST_PASSKEYS, type verifyNewPasskey } from './passkey.ts'

interface NewPasskey {
  readonly accountId: number
  readonly name: string
  readonly transports: readonly string[]
  readonly verified: Awaited<ReturnType<typeof verifyNewPasskey>>
}

/**
 * Adds a passkey, in the transaction that needs it.
 * @throws Problem `passkey_limit_reached`, or `passkey_not_taken` when it was sent before
 */
export async function addPasskey(
  { tx, now }: Context,
  { accountId, name, transports, verified }: NewPasskey,
): Promise<Passkey> {
  const { challenge, expiresAt, ...key } = verified
  await lockForUpdate(tx, 'accounts', accountId)
  if ((await passkeysOfAccount(tx, accountId)).length >= MOST_PASSKEYS)
    throw new Problem(problems.passkey_limit_reached, { limit: MOST_PASSKEYS })
  const passkey = { ...key, accountId, name, transports, createdAt: now }
  const id = (await takeChallenge(tx, challenge, expiresAt)) && (await insertPasskey(tx, passkey))
  if (!id) throw new Problem(problems.passkey_not_taken, {})
  return { ...passkey, id, usedAt: null }
}
