import { hash } from 'node:crypto'
import { Secret, TOTP } from 'otpauth'
import { at, type Example, type Examples, type Sample, type Scene, unique } from '../../../test/support/samples.ts'
import { beginTotp, confirmTotp, insertLink, setPassword } from './credentials.store.ts'
import { type Device, newDevice } from './passkeys/authenticator.fixture.ts'
import { newChallenge } from './passkeys/challenge.ts'
import { findPasskey, insertPasskey } from './passkeys/passkey.store.ts'
import { AUTHENTICATOR_PURPOSE } from './totp/totp.ts'

export const PASSWORD = 'correct horse battery'
/** Hash of that password, with parameters that cost almost nothing. */
const KEPT = '$argon2id$v=19$m=64,t=1,p=1$MDEyMzQ1Njc4OWFiY2RlZg$/ur5fLELUb1eXkT9oKHqq6gHGZ9Phwgbj4qyIcCNaYc'
const NEW_PASSWORD = 'staple under the lamp'
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const LINK = 'a-link-of-the-tests'

type Api = Scene['api']

/** Sets the password of an account. */
export const withPassword = ({ database }: Api, accountId: number): Promise<void> =>
  database.transaction((tx) => setPassword(tx, accountId, KEPT, Date.now()))

/** Returns the current code. */
export const codeNow = (timestamp = Date.now(), secret = SECRET): string =>
  new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp })

/** Adds an authenticator app that is being set up, or is active. */
export const withTotp = ({ database, sealer }: Api, accountId: number, isConfirmed: boolean): Promise<void> =>
  database.transaction(async (tx) => {
    await beginTotp(tx, accountId, sealer.seal(SECRET, AUTHENTICATOR_PURPOSE))
    if (isConfirmed) await confirmTotp(tx, accountId, { step: 0, codeHashes: ['of nobody'], now: Date.now() })
  })

/**
 * Creates a link to set a password.
 * @returns the part after the hash
 */
export async function withLink({ database }: Api, accountId: number, name: string | number): Promise<string> {
  const token = `${LINK}-${name}-${unique()}`
  const now = Date.now()
  const link = { hash: hash('sha256', token, 'hex'), accountId, now, expiresAt: now + 3_600_000 }
  await database.transaction((tx) => insertLink(tx, link))
  return token
}

/** Origin of the tests' requests, as a browser sends it. */
const ORIGIN = 'http://localhost'

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

/** Sets passwords of all accounts whose password may be requested. */
const passwords: NonNullable<Sample['prepare']> = async ({ owner, stranger }, api) => {
  for (const { accountId } of [owner, stranger]) await withPassword(api, accountId)
}

const apps: NonNullable<Sample['prepare']> = async ({ owner, stranger }, api) => {
  for (const { accountId } of [owner, stranger]) await withTotp(api, accountId, false)
}

/** What each of these accounts would send, by account id. */
const sent = new Map<number, object>()
const passkeys: NonNullable<Sample['prepare']> = async ({ owner, stranger }, api) => {
  for (const { accountId } of [owner, stranger])
    sent.set(accountId, usedCredential(api, await withPasskey(api, accountId)))
}
const newPasskeys: NonNullable<Sample['prepare']> = async ({ owner, stranger }, api) => {
  for (const { accountId } of [owner, stranger]) sent.set(accountId, newCredential(api, accountId))
}
const NOBODYS = newDevice().register(Buffer.from('a challenge of nobody'), ORIGIN)
const credentialOf: Sample['body'] = (_world, who) => ({
  name: 'Laptop',
  credential: (who?.accountId !== undefined && sent.get(who.accountId)) || NOBODYS,
})

// biome-ignore format: a table
export const samples: readonly Sample[] = [
  { endpoint: 'getSession', path: at('/v1/session'), bySession: true },
  { endpoint: 'signOut', path: at('/v1/session'), bySession: true, prepare: async () => {} },
  { endpoint: 'proveIdentity', path: at('/v1/session/proof'), body: () => ({ password: PASSWORD }), bySession: true, prepare: passwords },
  { endpoint: 'proveByPasskey', path: at('/v1/session/proof/passkey'), body: credentialOf, bySession: true, prepare: passkeys },
  { endpoint: 'listPasskeys', path: at('/v1/passkeys'), scope: true },
  { endpoint: 'beginPasskey', path: at('/v1/passkeys/options'), bySession: true },
  { endpoint: 'createPasskey', path: at('/v1/passkeys'), body: credentialOf, bySession: true, prepare: newPasskeys },
  { endpoint: 'deletePasskey', path: ({ passkey }) => `/v1/passkeys/${passkey}`, scope: true, isPrivate: true },
  { endpoint: 'changePassword', path: at('/v1/password'), body: () => ({ current_password: PASSWORD, password: NEW_PASSWORD }), scope: true, prepare: passwords },
  { endpoint: 'beginTotp', path: at('/v1/totp'), scope: true, prepare: async () => {} },
  { endpoint: 'confirmTotp', path: at('/v1/totp'), body: () => ({ code: codeNow() }), scope: true, prepare: apps },
  { endpoint: 'disableTotp', path: at('/v1/totp'), scope: true },
]

export const examples: Examples = {
  signIn: async (scene) => ({ body: await known(scene) }),
  proveIdentity: async (scene) => ({ body: { password: (await known(scene)).password } }),
  requestPasswordLink: ({ owner }) => ({ body: { email: owner.email } }),
  usePasswordLink: async ({ api, owner, number }) => ({
    body: { token: await withLink(api, owner.accountId, number), password: NEW_PASSWORD },
  }),
  beginPasskeyByLink: async ({ api, owner, number }) => ({
    body: { token: await withLink(api, owner.accountId, number) },
  }),
  createPasskeyByLink: async ({ api, owner, number }) => ({
    body: {
      token: await withLink(api, owner.accountId, number),
      ...{ name: 'Laptop', credential: newCredential(api, owner.accountId) },
    },
  }),
  changePassword: async (scene) => ({
    body: { current_password: (await known(scene)).password, password: NEW_PASSWORD },
  }),
  confirmTotp: codeOfApp,
  signInByPasskey: byPasskey,
  proveByPasskey: byPasskey,
  createPasskey: ({ api, owner }) => ({ body: { name: 'Laptop', credential: newCredential(api, owner.accountId) } }),
  deletePasskey: async ({ api, owner }) => ({ params: { id: await passkeyIn(api, owner.accountId) } }),
}

async function byPasskey({ api, owner }: Scene): Promise<Example> {
  return { body: { credential: usedCredential(api, await withPasskey(api, owner.accountId)) } }
}

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

async function known({ api, owner }: Scene) {
  await withPassword(api, owner.accountId)
  return { email: owner.email, password: PASSWORD }
}

async function codeOfApp({ api, owner }: Scene): Promise<Example> {
  await withTotp(api, owner.accountId, false)
  return { body: { code: codeNow() } }
}
