import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ofBrowser, type Person, type Reply, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { startWorker } from '../../../platform/operations/harness.ts'
import { forgetSignIns, forgetSignInsHourly } from '../forget.job.ts'
import { codeNow, newCredential, usedCredential, withLink, withPasskey, withTotp } from '../sign-in.fixture.ts'
import { type Device, newDevice } from './authenticator.fixture.ts'

const MINUTE = 60_000
const ORIGIN = 'http://localhost'
const PRESENT_ONLY = 1

describe.each(dialects)('passkeys ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let clock: number
  let api: TestApi
  let owner: Person
  beforeEach(async () => {
    clock = Date.now()
    api = await testApi(dialect, { now: () => clock, settings: { STEAD_TRUST_PROXY: '127.0.0.1' } })
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api.close())

  const codes = (replies: readonly Reply[]) => replies.map(({ status, body }) => body.code ?? status)
  const bytesOf = ({ body }: Reply): Buffer => Buffer.from(body.data.challenge, 'base64url')
  const asked = async (headers: Record<string, string> = {}) =>
    bytesOf(await api.call('POST', '/v1/session/passkey/options', undefined, headers))
  const signIn = (credential: object, headers: Record<string, string> = {}) =>
    api.call('POST', '/v1/session/passkey', { credential }, headers)
  const add = (credential: object, by: Person = owner) =>
    by.browse('POST', '/v1/passkeys', { name: 'Laptop', credential })
  const tokenOf = ({ headers }: Reply): string => /^[\w-]+=([\w-]+);/.exec(String(headers['set-cookie']))?.[1] as string

  test('200 a passkey from a browser is listed, signs in without password and code, and can be removed', async () => {
    const device = newDevice()
    const options = await owner.browse('POST', '/v1/passkeys/options')
    expect(options.body.data).toMatchObject({
      rp: { id: 'localhost', name: 'Stead' },
      user: { name: owner.email },
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    })
    const added = await add(device.register(bytesOf(options), ORIGIN))
    expect(added.body.data).toMatchObject({ name: 'Laptop', host_name: 'localhost', used_at: null })
    const again = await owner.browse('POST', '/v1/passkeys/options')
    expect(again.body.data.excludeCredentials).toMatchObject([{ id: device.credentialId, transports: ['internal'] }])
    await withTotp(api, owner.accountId, true)
    const reply = await signIn(device.sign(await asked(), ORIGIN))
    expect(reply.body.data).toMatchObject({ account_id: owner.accountId, email: owner.email })
    const me = await api.call('GET', '/v1/session', undefined, ofBrowser(tokenOf(reply)))
    expect(me.body.data).toMatchObject({ email: owner.email, passkeys: 1, password: false })
    const { id } = added.body.data
    const listed = await owner.browse('GET', '/v1/passkeys')
    expect(listed.body.data).toMatchObject([{ id, used_at: new Date(clock).toISOString() }])
    expect((await owner.call('DELETE', `/v1/passkeys/${id}`)).status).toBe(200)
    expect((await signIn(device.sign(await asked(), ORIGIN))).body.code).toBe('wrong_passkey')
  })

  test('401 a signed response counts once, however many requests send it at once, and for five minutes', async () => {
    const device = await withPasskey(api, owner.accountId)
    const signed = device.sign(await asked(), ORIGIN)
    const replies = await Promise.all([signIn(signed), signIn(signed), signIn(signed)])
    expect(codes(replies).toSorted()).toEqual([200, 'wrong_passkey', 'wrong_passkey'])
    const late = device.sign(await asked(), ORIGIN)
    clock += 5 * MINUTE
    expect((await signIn(late)).body.code).toBe('wrong_passkey')
    clock -= 10 * MINUTE
    expect((await signIn(late)).body.code).toBe('wrong_passkey')
  })

  test('401 for a response for another address, without finger or PIN, by another key, or for an unknown challenge', async () => {
    const device = await withPasskey(api, owner.accountId)
    const stranger = newDevice()
    const forged = { ...stranger.sign(await asked(), ORIGIN), id: device.credentialId }
    const elsewhere = await withPasskey(api, owner.accountId, 'panel.example.com')
    const replies = [
      await signIn(device.sign(await asked(), 'http://evil.localhost')),
      await signIn(device.sign(await asked(), ORIGIN, undefined, 0, 'http://evil.localhost')),
      await signIn(device.sign(await asked(), 'http://evil.localhost', undefined, 0, ORIGIN)),
      await signIn(device.sign(await asked(), 'http://localhost:8443')),
      await signIn(device.sign(await asked(), 'https://localhost')),
      await signIn(device.sign(await asked(), ORIGIN, PRESENT_ONLY)),
      await signIn(forged),
      await signIn(device.sign(Buffer.from('a challenge of nobody'), ORIGIN)),
      await signIn(elsewhere.sign(await asked(), ORIGIN)),
      await signIn(device.sign(bytesOf(await owner.browse('POST', '/v1/passkeys/options')), ORIGIN)),
    ]
    expect(codes(replies)).toEqual(replies.map(() => 'wrong_passkey'))
    expect((await signIn(device.sign(await asked(), ORIGIN))).status).toBe(200)
  })

  test('401 a response of one account’s device signs in no other account, whatever account it names', async () => {
    const other = await api.person('other@example.com')
    const [mine, theirs] = [await withPasskey(api, owner.accountId), await withPasskey(api, other.accountId)]
    const signed = mine.sign(await asked(), ORIGIN)
    expect((await signIn({ ...signed, id: theirs.credentialId })).body.code).toBe('wrong_passkey')
    const userHandle = Buffer.from(`account ${other.accountId}`).toString('base64url')
    const reply = await signIn({ ...signed, response: { ...signed.response, userHandle } })
    // The key identifies the account, and the other fields are ignored.
    expect([200, 400]).toContain(reply.status)
    if (reply.status === 200) expect(reply.body.data.account_id).toBe(owner.accountId)
    // A registration is not a sign-in.
    const device = newDevice()
    const { response, id } = device.register(await asked(), ORIGIN)
    const { signature } = mine.sign(await asked(), ORIGIN).response
    const made = { clientDataJSON: response.clientDataJSON, authenticatorData: response.attestationObject, signature }
    expect((await signIn({ id, response: made })).body.code).toBe('wrong_passkey')
  })

  test('401 for a device whose counter stays or decreases, even if two responses are checked at the same moment', async () => {
    const device = await withPasskey(api, owner.accountId)
    const signed = async (counter: number) => device.sign(await asked(), ORIGIN, undefined, counter)
    expect((await signIn(await signed(5))).status).toBe(200)
    expect(
      codes([await signIn(await signed(5)), await signIn(await signed(4)), await signIn(await signed(0))]),
    ).toEqual(['wrong_passkey', 'wrong_passkey', 'wrong_passkey'])
    // A copy of the device that has counted as far.
    const twins = await Promise.all([signed(6), signed(6), signed(6)])
    expect(codes(await Promise.all(twins.map((each) => signIn(each)))).toSorted()).toEqual([
      200,
      'wrong_passkey',
      'wrong_passkey',
    ])
    expect((await signIn(await signed(7))).status).toBe(200)
  })

  test('400 for a new one requested by another account, for another address, without finger or PIN, or sent twice', async () => {
    const other = await api.person('other@example.com')
    const device = newDevice()
    const options = async (by: Person) => bytesOf(await by.browse('POST', '/v1/passkeys/options'))
    const replies = [
      await add(device.register(await options(other), ORIGIN)),
      await add(device.register(await options(owner), 'http://evil.localhost')),
      await add(device.register(await options(owner), ORIGIN, PRESENT_ONLY)),
      await add(device.register(await asked(), ORIGIN)),
    ]
    expect(codes(replies)).toEqual(replies.map(() => 'passkey_not_taken'))
    const made = device.register(await options(owner), ORIGIN)
    expect(codes(await Promise.all([add(made), add(made)])).toSorted()).toEqual([200, 'passkey_not_taken'])
    // The key of a device belongs to one account only.
    expect((await add(device.register(await options(other), ORIGIN), other)).body.code).toBe('passkey_not_taken')
  })

  test('over https it is valid for its host name, and addresses without a name have none', async () => {
    const secure = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'panel.example.com' }
    const device = await withPasskey(api, owner.accountId, 'panel.example.com')
    const signed = device.sign(await asked(secure), 'https://panel.example.com')
    expect(codes([await signIn(signed), await signIn(signed, secure)])).toEqual(['wrong_passkey', 200])
    const plain = { 'x-forwarded-host': 'panel.example.com' }
    for (const headers of [plain, { host: '127.0.0.1:8080' }, { host: '[::1]:8080' }]) {
      const reply = await api.call('POST', '/v1/session/passkey/options', undefined, headers)
      expect(reply.body.code).toBe('passkey_needs_name')
    }
    expect(
      (await api.call('POST', '/v1/session/passkey/options', undefined, { host: 'stead.localhost:8080' })).status,
    ).toBe(200)
  })

  test('403 then 200: the account’s own passkey is a fresh proof, and another account’s is not', async () => {
    const other = await api.person('other@example.com')
    const [own, others] = [await withPasskey(api, owner.accountId), await withPasskey(api, other.accountId)]
    const proveBy = (credential: object) => owner.browse('POST', '/v1/session/proof/passkey', { credential })
    const prove = (device: Device) => proveBy(usedCredential(api, device, clock))
    const remove = () => owner.browse('DELETE', '/v1/totp')
    clock += 16 * MINUTE
    const replies = [await remove(), await prove(others), await remove(), await prove(own), await remove()]
    expect(codes(replies)).toEqual(['proof_needed', 'wrong_passkey', 'proof_needed', 200, 200])
    const signed = usedCredential(api, own, clock)
    expect(codes([await proveBy(signed), await proveBy(signed)])).toEqual([200, 'wrong_passkey'])
    clock += 16 * MINUTE
    expect(
      codes([
        await owner.browse('POST', '/v1/passkeys/options'),
        await add(newCredential(api, owner.accountId, undefined, clock)),
      ]),
    ).toEqual(['proof_needed', 'proof_needed'])
  })

  test('forgets a used challenge once it would be too old', async () => {
    const device = await withPasskey(api, owner.accountId)
    expect((await signIn(device.sign(await asked(), ORIGIN))).status).toBe(200)
    const kept = () => api.database.read.selectFrom('spent_challenges').selectAll().execute()
    expect(await kept()).toHaveLength(1)
    clock += 6 * MINUTE
    const worker = startWorker(api.database, [forgetSignIns], {
      runner: 'control',
      lookEveryMs: 20,
      clock: () => clock,
    })
    await api.database.transaction((tx) => forgetSignInsHourly.enqueue(tx, clock))
    await expect.poll(kept).toEqual([])
    await worker.stop(1000)
  })

  describe('by a link', () => {
    const use = (token: string, credential: object, code?: string) =>
      api.call('POST', '/v1/password-links/passkey', { token, name: 'Phone', credential, ...(code && { code }) })
    const begin = async (token: string) =>
      bytesOf(await api.call('POST', '/v1/password-links/passkey/options', { token }))

    test('200 without a password: starts a session, ends all others, and signs in, and the link counts once', async () => {
      const token = await withLink(api, owner.accountId, 'passkey')
      const [device, other] = [newDevice(), newDevice()]
      const late = other.register(await begin(token), ORIGIN)
      const reply = await use(token, device.register(await begin(token), ORIGIN))
      expect(reply.body.data).toMatchObject({ account_id: owner.accountId, email: owner.email })
      expect((await owner.browse('GET', '/v1/session')).status).toBe(401)
      const me = await api.call('GET', '/v1/session', undefined, ofBrowser(tokenOf(reply)))
      expect(me.body.data).toMatchObject({ email: owner.email, passkeys: 1, password: false })
      expect(codes([await use(token, late)])).toEqual(['link_spent'])
      expect((await signIn(device.sign(await asked(), ORIGIN))).status).toBe(200)
      expect((await owner.call('GET', '/v1/passkeys')).body.data).toMatchObject([{ name: 'Phone' }])
      const again = await api.call('POST', '/v1/passkeys/options', undefined, ofBrowser(tokenOf(reply)))
      expect(again.body.data.excludeCredentials).toMatchObject([{ transports: ['internal'] }])
    })

    test('401 without the code of an authenticator app, and the link and the new credential still count afterwards', async () => {
      await withTotp(api, owner.accountId, true)
      const token = await withLink(api, owner.accountId, 'passkey')
      const credential = newDevice().register(await begin(token), ORIGIN)
      expect(codes([await use(token, credential), await use(token, credential, '000000')])).toEqual([
        'code_needed',
        'wrong_code',
      ])
      expect((await owner.call('GET', '/v1/passkeys')).body.data).toEqual([])
      expect((await use(token, credential, codeNow(clock))).status).toBe(200)
    })

    test('400 for a credential that was created for another account', async () => {
      const stranger = await api.person('stranger@example.com')
      const [mine, theirs] = [
        await withLink(api, owner.accountId, 'mine'),
        await withLink(api, stranger.accountId, 'theirs'),
      ]
      const credential = newDevice().register(await begin(theirs), ORIGIN)
      expect(codes([await use(mine, credential), await use(theirs, credential)])).toEqual(['passkey_not_taken', 200])
    })
  })
})
