import type { Tx } from '../../platform/db/database.ts'
import { hasPassword } from './credentials.store.ts'
import { passkeysOfAccount } from './passkeys/passkey.store.ts'

/** Returns whether an account has any way to sign in to the control panel. */
export const canSignIn = async (tx: Tx, accountId: number): Promise<boolean> =>
  (await hasPassword(tx, accountId)) || (await passkeysOfAccount(tx, accountId)).length > 0
