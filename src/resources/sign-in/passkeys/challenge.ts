import { hash, randomBytes } from 'node:crypto'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { spendChallenge } from './passkey.store.ts'

/** How long a browser waits for the device. */
export const CHALLENGE_MS = 5 * 60_000
const PURPOSE = 'passkey challenge'

/** Purpose of a challenge: a new passkey for an account, or a sign-in by any account. */
type Use = { readonly newPasskeyOf: number } | 'signIn'

/**
 * Creates a challenge for a device to sign. Anyone can request one, so Stead stores nothing: the sealed challenge
 * itself contains its purpose and expiry. Only a challenge that a known passkey has signed is stored, so that it counts
 * once.
 */
export function newChallenge(sealer: Sealer, use: Use, now: number): Uint8Array<ArrayBuffer> {
  const said = [randomBytes(16).toString('base64url'), textOf(use), now + CHALLENGE_MS].join(' ')
  return Uint8Array.from(Buffer.from(sealer.seal(said, PURPOSE)))
}

/**
 * Returns when a challenge expires.
 * @param challenge in base64url, as browsers send it back
 * @returns `undefined` when it is invalid, for another use, or too old
 */
export function challengeEnd(sealer: Sealer, challenge: string, use: Use, now: number): number | undefined {
  const [, said, end] = opened(sealer, challenge)
  const expiresAt = Number(end)
  // An end too far ahead was written before the clock was set back.
  return said === textOf(use) && now < expiresAt && expiresAt <= now + CHALLENGE_MS ? expiresAt : undefined
}

/**
 * Uses up a challenge.
 * @returns whether it still counted, which only one of simultaneous requests gets
 */
export const takeChallenge = (tx: Tx, challenge: string, expiresAt: number): Promise<boolean> =>
  spendChallenge(tx, hash('sha256', challenge, 'hex'), expiresAt)

const textOf = (use: Use): string => (use === 'signIn' ? use : `newPasskeyOf:${use.newPasskeyOf}`)

function opened(sealer: Sealer, challenge: string): string[] {
  try {
    return sealer.open(Buffer.from(challenge, 'base64url').toString(), PURPOSE).split(' ')
  } catch {
    return []
  }
}
