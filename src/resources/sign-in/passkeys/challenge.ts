import { hash, randomBytes } from 'node:crypto'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { spendChallenge } from './passkey.store.ts'

/** As long as a browser waits for the device. */
export const CHALLENGE_MS = 5 * 60_000
const PURPOSE = 'passkey challenge'

/** What a challenge is for: a new passkey of an account, or a sign-in of whoever it may be. */
type Use = { readonly newPasskeyOf: number } | 'signIn'

/**
 * What a device is to sign. Nothing is kept of it, since anybody may ask for one: it says itself what it is for and how long, sealed. Only one that
 * was signed by a known passkey is remembered, so that it counts once.
 */
export function newChallenge(sealer: Sealer, use: Use, now: number): Uint8Array<ArrayBuffer> {
  const said = [randomBytes(16).toString('base64url'), textOf(use), now + CHALLENGE_MS].join(' ')
  return Uint8Array.from(Buffer.from(sealer.seal(said, PURPOSE)))
}

/** @param challenge in base64url, as browsers send it back @returns when it ends; `undefined` when it is none, of another use, or too old */
export function challengeEnd(sealer: Sealer, challenge: string, use: Use, now: number): number | undefined {
  const [, said, end] = opened(sealer, challenge)
  const expiresAt = Number(end)
  // one of far ahead is of a clock that was set back since
  return said === textOf(use) && now < expiresAt && expiresAt <= now + CHALLENGE_MS ? expiresAt : undefined
}

/** @returns whether it counts still: whoever else sends it at the same moment */
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
