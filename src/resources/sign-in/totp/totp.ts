import { hash, randomInt } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { useRecoveryCode, useStep } from '../credentials.store.ts'

/** Purpose that the secrets are sealed for. */
export const AUTHENTICATOR_PURPOSE = 'authenticator secret'
const PERIOD_S = 30
/** A device's clock may be one step off (RFC 6238 §6). */
const WINDOW = 1
const RECOVERY_CODES = 10

const totpOf = (email: string, secret: Secret): TOTP =>
  new TOTP({ issuer: 'Stead', label: email, algorithm: 'SHA1', digits: 6, period: PERIOD_S, secret })

/** Creates a secret (RFC 4226 §4 asks for 160 bits). Returns it sealed, as text, and as the address in a QR code. */
export function newTotp(sealer: Sealer, email: string): { sealed: string; secret: string; uri: string } {
  const secret = new Secret({ size: 20 })
  return {
    sealed: sealer.seal(secret.base32, AUTHENTICATOR_PURPOSE),
    secret: secret.base32,
    uri: totpOf(email, secret).toString(),
  }
}

/**
 * Verifies a code.
 * @returns its time step, or `undefined` when it is wrong
 */
export function stepOf(sealer: Sealer, sealed: string, code: string, now: number): number | undefined {
  const token = code.replaceAll(/\s/g, '')
  // The library throws for six characters that are more bytes.
  if (!/^\d{6}$/.test(token)) return undefined
  const totp = totpOf('', Secret.fromBase32(sealer.open(sealed, AUTHENTICATOR_PURPOSE)))
  const delta = totp.validate({ token, timestamp: now, window: WINDOW })
  return delta === null ? undefined : Math.floor(now / 1000 / PERIOD_S) + delta
}

/**
 * Creates recovery codes. Each works once, in place of a code. Stead stores only their SHA-256, which is enough because
 * they are random.
 */
export function newRecoveryCodes(): { codes: string[]; hashes: string[] } {
  const codes = Array.from({ length: RECOVERY_CODES }, recoveryCode)
  return { codes, hashes: codes.map(recoveryHash) }
}

/** No letters or digits that look alike. 31^12 codes are 59 bits. */
const ALPHABET = '23456789abcdefghjkmnpqrstuvwxyz'
function recoveryCode(): string {
  const letters = Array.from({ length: 12 }, () => ALPHABET[randomInt(ALPHABET.length)] as string)
  return [letters.slice(0, 4), letters.slice(4, 8), letters.slice(8)].map((part) => part.join('')).join('-')
}

const recoveryHash = (code: string): string => hash('sha256', code.toLowerCase().replaceAll(/[^a-z0-9]/g, ''), 'hex')

/**
 * Checks a code of the app, or a recovery code, and uses it up. Of simultaneous requests with the same code, only one
 * succeeds.
 */
export async function takeCode(
  tx: Tx,
  sealer: Sealer,
  { accountId, secret, code, now }: { accountId: number; secret: string; code: string; now: number },
): Promise<boolean> {
  const step = stepOf(sealer, secret, code, now)
  if (step !== undefined) return useStep(tx, accountId, step)
  return useRecoveryCode(tx, accountId, recoveryHash(code))
}
