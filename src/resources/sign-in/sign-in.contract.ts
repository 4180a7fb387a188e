import { expect } from 'vitest'
import type { Contract, JobRefusal, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { change, forgets, inAnHour } from '../../../test/support/job-worlds.ts'
import { at, type Example, type Examples, type Sample, type Scene } from '../../../test/support/samples.ts'
import { write } from '../../../test/support/scenes.ts'
import { setSuspended } from '../account/account.store.ts'
import { countAttempt } from './attempts.ts'
import { insertPasswordLink } from './credentials.store.ts'
import { newDevice } from './passkeys/authenticator.fixture.ts'
import { MOST_PASSKEYS } from './passkeys/passkey.ts'
import {
  codeNow,
  newCredential,
  ORIGIN,
  PASSWORD,
  passkeyIn,
  usedCredential,
  withLink,
  withPasskey,
  withPassword,
  withTotp,
} from './sign-in.fixture.ts'

const tooManyGuesses = ({ api, owner }: Scene) =>
  api.database.transaction(async (tx) => {
    await countAttempt(tx, { email: owner.email, ipAddress: '127.0.0.1' }, Date.now())
    await tx.updateTable('sign_in_attempts').set({ count: 50 }).execute()
    return async () => {
      await api.database.transaction((after) => after.deleteFrom('sign_in_attempts').execute())
    }
  })

async function withWrongCode({ api, owner, number }: Scene): Promise<Example> {
  await withPassword(api, owner.accountId)
  await withTotp(api, owner.accountId, true)
  const token = await withLink(api, owner.accountId, number)
  const credential = newCredential(api, owner.accountId)
  return { body: { email: owner.email, password: PASSWORD, token, code: '000000', name: 'x', credential } }
}

function suspendedOwner(scene: Scene): Promise<unknown> {
  return write(scene, (tx) => setSuspended(tx, scene.owner.accountId, 1))
}

/** The sessions of the scene began at another origin of the panel. */
function sessionsAt(origin: string) {
  return (scene: Scene) =>
    write(scene, (tx) =>
      tx.updateTable('sessions').set({ origin }).where('account_id', '=', scene.owner.accountId).execute(),
    )
}

const NEW_PASSWORD = 'staple under the lamp'

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

async function byPasskey({ api, owner }: Scene): Promise<Example> {
  return { body: { credential: usedCredential(api, await withPasskey(api, owner.accountId)) } }
}

async function known({ api, owner }: Scene) {
  await withPassword(api, owner.accountId)
  return { email: owner.email, password: PASSWORD }
}

async function codeOfApp({ api, owner }: Scene): Promise<Example> {
  await withTotp(api, owner.accountId, false)
  return { body: { code: codeNow() } }
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
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

const examples: Examples = {
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
  disableTotp: async ({ api, owner }) => {
    await withTotp(api, owner.accountId, true)
    return {}
  },
  signInByPasskey: byPasskey,
  proveByPasskey: byPasskey,
  createPasskey: ({ api, owner }) => ({ body: { name: 'Laptop', credential: newCredential(api, owner.accountId) } }),
  deletePasskey: async ({ api, owner }) => ({ params: { id: await passkeyIn(api, owner.accountId) } }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['signIn', 'signInByPasskey', 'usePasswordLink', 'createPasskeyByLink'], code: 'account_suspended', prepare: suspendedOwner },
  { of: ['signIn', 'proveIdentity', 'changePassword'], code: 'wrong_password', example: () => ({ body: { email: 'nobody@example.com', password: 'not this one at all', current_password: 'not this one at all' } }) },
  { of: ['signIn', 'proveIdentity', 'changePassword', 'usePasswordLink', 'createPasskeyByLink'], code: 'too_many_guesses', prepare: tooManyGuesses },
  { of: ['signIn', 'proveIdentity', 'changePassword', 'usePasswordLink'], code: 'too_many_sign_ins', on: 'busy' },
  { of: ['signIn', 'usePasswordLink', 'createPasskeyByLink'], code: 'code_needed', prepare: ({ api, owner }) => withTotp(api, owner.accountId, true) },
  { of: ['signIn', 'usePasswordLink', 'createPasskeyByLink'], code: 'wrong_code', example: withWrongCode },
  { of: ['confirmTotp'], code: 'wrong_code', example: async ({ api, owner }) => { await withTotp(api, owner.accountId, false); return { body: { code: '000000' } } } },
  { of: ['usePasswordLink', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'link_spent', example: ({ api, owner }) => ({ body: { token: 'of-nobody', password: 'staple under the lamp', name: 'x', credential: newCredential(api, owner.accountId) } }) },
  { of: ['usePasswordLink'], code: 'weak_password', example: async ({ api, owner, number }) => ({ body: { token: await withLink(api, owner.accountId, number), password: 'short' } }) },
  { of: ['changePassword'], code: 'weak_password', example: () => ({ body: { current_password: PASSWORD, password: 'short' } }) },
  { of: ['beginTotp', 'confirmTotp'], code: 'totp_active', prepare: ({ api, owner }) => withTotp(api, owner.accountId, true) },
  { of: ['confirmTotp'], code: 'totp_not_begun', example: () => ({ body: { code: '123456' } }) },
  { of: ['beginPasskeySignIn', 'signInByPasskey', 'proveByPasskey', 'beginPasskey', 'createPasskey', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'passkey_needs_name', headers: { host: '127.0.0.1' }, prepare: sessionsAt('http://127.0.0.1') },
  { of: ['signInByPasskey', 'proveByPasskey'], code: 'wrong_passkey', example: ({ api }) => ({ body: { credential: usedCredential(api, newDevice()) } }) },
  { of: ['createPasskey', 'createPasskeyByLink'], code: 'passkey_not_taken', example: async ({ api, friend, owner, number }) => ({ body: { token: await withLink(api, owner.accountId, number), name: 'x', credential: newCredential(api, friend.accountId) } }) },
  { of: ['beginPasskey', 'createPasskey', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'passkey_limit_reached', prepare: async ({ api, owner }) => { for (let each = 0; each < MOST_PASSKEYS; each++) await withPasskey(api, owner.accountId) } },
  { of: ['signIn', 'beginPasskeySignIn', 'signInByPasskey', 'requestPasswordLink', 'usePasswordLink', 'beginPasskeyByLink', 'createPasskeyByLink'], code: 'cross_site', headers: { origin: 'https://elsewhere.example' } },
]

const unrecorded: Contract['unrecorded'] = {
  getSession: 'that a session goes on is no change of the account',
  proveIdentity: 'as getSession',
  proveByPasskey: 'as getSession',
  requestPasswordLink: 'anybody may ask; the password that is set by the link has an entry',
  beginTotp: 'nothing is in force before it is confirmed',
}

const jobs: Record<string, JobSample> = {
  'password.mail_link': {
    prepare: async ({ owner }) => ({
      input: { accountId: owner.accountId, kind: 'lost' },
      options: { siteId: null },
    }),
    async done({ api, owner, mails }) {
      // At most, it is sent again with the same Message-ID. An interrupted attempt has created a link that was never
      // sent.
      expect(mails.size).toBe(1)
      const links = api.database.read.selectFrom('password_links').select('hash')
      expect((await links.where('account_id', '=', owner.accountId).execute()).length).toBeGreaterThan(0)
    },
  },

  'sign_ins.forget': forgets(
    inAnHour,
    ({ api, owner: { accountId } }, at) =>
      api.database.transaction(async (tx) => {
        await insertPasswordLink(tx, { hash: `of-${accountId}-${at}`, accountId, now: at, expiresAt: at })
        await tx
          .insertInto('sign_in_attempts')
          .values({ key: `of-${accountId}-${at}`, count: 1, last_at: at })
          .execute()
      }),
    async ({ api, owner: { accountId } }) => {
      const links = api.database.read.selectFrom('password_links').select('expires_at as at')
      const guesses = api.database.read.selectFrom('sign_in_attempts').select('last_at as at')
      const [ofLinks, ofGuesses] = [
        await links.where('account_id', '=', accountId).orderBy('at').execute(),
        await guesses.where('key', 'like', `of-${accountId}-%`).orderBy('at').execute(),
      ]
      expect(ofGuesses).toEqual(ofLinks)
      return ofLinks
    },
  ),
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'password.mail_link', says: 'The account was deleted', wrong: (_world, input) => { input.accountId = 987654 } },
  { type: 'password.mail_link', says: 'Stead already sent three links to this address in the last hour', wrong: (world, { accountId }) => change(world, async (tx) => { for (const hash of ['a', 'b', 'c']) await insertPasswordLink(tx, { hash: `${hash}-${accountId}`, accountId, now: Date.now(), expiresAt: Date.now() + 1e6 }) }) },
]

export const contract: Contract = { samples, examples, problems, unrecorded, jobs, jobRefusals }
