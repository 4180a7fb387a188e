import { hash } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { type Scene, unique } from '../../../test/support/samples.ts'
import { activateTotp, insertPasswordLink, setPassword, storeTotpSecret } from './credentials.store.ts'
import { type Device, newDevice } from './passkeys/authenticator.fixture.ts'
import { newChallenge } from './passkeys/challenge.ts'
import { findPasskey, insertPasskey } from './passkeys/passkey.store.ts'
import { AUTHENTICATOR_PURPOSE } from './totp/totp.ts'

export const PASSWORD = 'correct horse battery'

/** Hash of that password, with parameters that cost almost nothing. */
export const KEPT = '$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$/ur5fLELUb1eXkT9oKHqq6gHGZ9Phwgbj4qyIcCNaYc'

export const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'

export const LINK = 'a-link-of-the-tests'

export type Api = Scene['api']

/** Sets the password of an account. */
export const withPassword = ({ database }: Api, accountId: number): Promise<void> =>
  database.transaction((tx) => setPassword(tx, accountId, KEPT, Date.now()))

/** Returns the current code. */
export const codeNow = (timestamp = Date.now(), secret = SECRET): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })

/** Adds an authenticator app that is being set up, or is active. */
export const withTotp = ({ database, sealer }: Api, accountId: number, isConfirmed: boolean): Promise<void> =>
  database.transaction(async (tx) => {
    await storeTotpSecret(tx, accountId, sealer.seal(SECRET, AUTHENTICATOR_PURPOSE))
    if (isConfirmed)
      await activateTotp(tx, accountId, { step: 0, codeHashes: [`of nobody ${unique()}`], now: Date.now() })
  })

/**
 * Creates a link to set a password.
 * @returns the part after the hash
 */
export async function withLink({ database }: Api, accountId: number, name: string | number): Promise<string> {
  const token = `${LINK}-${name}-${unique()}`
  const now = Date.now()
  const link = { hash: hash('sha256', token, 'hex'), accountId, now, expiresAt: now + 3_600_000 }
  await database.transaction((tx) => insertPasswordLink(tx, link))
  return token
}

/** Origin of the tests' requests, as a browser sends it. */
export const ORIGIN = 'http://localhost'

/** Returns what a browser would send for a new passkey of the account. */
export const newCredential = ({ sealer }: Api, accountId: number, device: Device = newDevice(), now = Date.now()) =>
  device.register(newChallenge(sealer, { newPasskeyOf: accountId }, now), ORIGIN)

/**
 * Adds a passkey to the account.
 * @returns its device
 */
export async function withPasskey({ database }: Api, accountId: number, hostName = 'localhost'): Promise<Device> {
  const device = newDevice()
  const { credentialId, publicKey } = device
  const more = { counter: 0, transports: [], name: 'Laptop', createdAt: Date.now() }
  await database.transaction((tx) => insertPasskey(tx, { accountId, credentialId, publicKey, hostName, ...more }))
  return device
}

/** Returns what a browser would send to sign in with it. */
export const usedCredential = ({ sealer }: Api, device: Device, now = Date.now()) =>
  device.sign(newChallenge(sealer, 'signIn', now), ORIGIN)

/** Returns a valid credential of the same kind: a new passkey, or a used one. */
export const rightCredential = async (api: Api, accountId: number, like: unknown): Promise<object> =>
  JSON.stringify(like).includes('attestationObject')
    ? newCredential(api, accountId)
    : usedCredential(api, await withPasskey(api, accountId))

/**
 * Adds a passkey.
 * @returns its id
 */
export async function passkeyIn(api: Api, accountId: number): Promise<number> {
  const { credentialId } = await withPasskey(api, accountId)
  return (await findPasskey(api.database.read, credentialId))?.id as number
}
