import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Secret, TOTP } from 'otpauth'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ofBrowser, type Person, type Reply, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { createMailer, MailRefused } from '../../platform/mail/mailer.ts'
import { PermanentFailure } from '../../platform/operations/definition.ts'
import { startWorker } from '../../platform/operations/harness.ts'
import { mailLink } from './password/mail-link.job.ts'
import { codeNow, PASSWORD, withLink, withPassword, withTotp } from './sign-in.fixture.ts'

const MINUTE = 60_000
const NEW = 'staple under the lamp'

describe.each(dialects)('signing in ($dialect)', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let clock: number
  let api: TestApi
  let owner: Person
  beforeEach(async () => {
    clock = Date.now()
    api = await testApi(dialect, { now: () => clock, settings: { STEAD_TRUST_PROXY: '127.0.0.1' } })
    owner = await api.person('owner@example.com')
    await withPassword(api, owner.accountId)
  })
  afterEach(() => api.close())

  const signIn = (body: object = {}, headers: Record<string, string> = {}): Promise<Reply> =>
    api.call('POST', '/v1/session', { email: owner.email, password: PASSWORD, ...body }, headers)
  const tokenOf = ({ headers }: Reply): string => /^[\w-]+=([\w-]+);/.exec(String(headers['set-cookie']))?.[1] as string
  const codes = (replies: readonly Reply[]) => replies.map(({ status, body }) => body.code ?? status)
  const me = (token: string, headers: Record<string, string> = {}) =>
    api.call('GET', '/v1/session', undefined, { ...ofBrowser(token), ...headers })

  test('200 sets a cookie that scripts cannot read and other sites cannot send, and that identifies a caller', async () => {
    const reply = await signIn({ email: ' Owner@Example.com' })
    expect(String(reply.headers['set-cookie'])).toMatch(
      /^stead_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=2592000$/,
    )
    const { body } = await me(tokenOf(reply))
    expect(body.data).toMatchObject({ account_id: owner.accountId, email: owner.email, totp: false })
    expect((await me(tokenOf(reply), { authorization: `Bearer ${tokenOf(reply)}` })).status).toBe(401)
  })

  test('200 over https, the cookie has a name that no other host can set, and the plain one is ignored', async () => {
    const secure = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'panel.example.com' }
    const reply = await signIn({}, secure)
    expect(String(reply.headers['set-cookie'])).toMatch(/^__Host-stead=.*; Secure$/)
    const token = tokenOf(reply)
    const by = (cookie: string) => me(token, { ...secure, cookie })
    expect((await by(`__Host-stead=${token}`)).status).toBe(200)
    expect((await by(`stead_session=${token}`)).body.code).toBe('unauthorized')
  })

  test('401 at another address of the panel than the one where the session began', async () => {
    const at = (host: string, proto = 'http') => ({ 'x-forwarded-host': host, 'x-forwarded-proto': proto })
    const reply = await signIn({}, at('panel.example.com:8080'))
    const seen = (headers: Record<string, string>) => me(tokenOf(reply), headers)
    expect((await seen(at('panel.example.com:8080'))).status).toBe(200)
    for (const host of ['panel.example.com', 'panel.example.com:8081', 'localhost:8080'])
      expect((await seen(at(host))).body.code).toBe('invalid_token')
    const cookie = `__Host-stead=${tokenOf(reply)}`
    expect((await seen({ ...at('panel.example.com:8080', 'https'), cookie })).body.code).toBe('invalid_token')
  })

  test('401 alike for a wrong password, an account without one, and an unknown account', async () => {
    const other = await api.person('other@example.com')
    const replies = [
      await signIn({ password: 'wrong' }),
      await signIn({ email: other.email }),
      await signIn({ email: 'nobody@example.com' }),
    ]
    expect(codes(replies)).toEqual(['wrong_password', 'wrong_password', 'wrong_password'])
    expect(replies.every(({ headers }) => headers['set-cookie'] === undefined)).toBe(true)
  })

  test('429 after five wrong ones, even for the right one, until the time has passed, and counts simultaneous ones', async () => {
    const wrong = await Promise.all(Array.from({ length: 9 }, () => signIn({ password: 'wrong' })))
    // Some of the counted ones get no memory to be checked in.
    expect(codes(wrong).filter((code) => code === 'too_many_guesses')).toHaveLength(4)
    expect(codes(wrong)).not.toContain(200)
    const refused = await signIn()
    expect([refused.body.code, refused.headers['retry-after']]).toEqual(['too_many_guesses', '2'])
    const log = api.database.read.selectFrom('activity').select('message').where('action', '=', 'banned')
    // However often it is refused.
    expect(await log.execute()).toEqual([{ message: expect.stringContaining('too many wrong passwords') }])
    clock += 2000
    expect((await signIn()).status).toBe(200)
    // A right guess resets the counter.
    expect(codes([await signIn({ password: 'wrong' }), await signIn()])).toEqual(['wrong_password', 200])
  })

  test('429 slows a network that tries many addresses too, but not others', async () => {
    const from = (address: string, n: number) =>
      signIn({ email: `n${n}@example.com` }, { 'x-forwarded-for': `${address}` })
    const replies: Reply[] = []
    for (let n = 0; n < 21; n++) replies.push(await from(`2001:db8::${n + 1}`, n))
    expect(codes(replies).slice(19)).toEqual(['wrong_password', 'too_many_guesses'])
    expect((await from('2001:db8:1::1', 99)).body.code).toBe('wrong_password')
  })

  test('200 right passwords are never slowed, however many, and do not slow others of the network', async () => {
    for (let times = 0; times < 15; times++) expect((await signIn()).status).toBe(200)
    const wrong: Reply[] = []
    for (let n = 0; n < 21; n++) wrong.push(await signIn({ email: `n${n}@example.com` }))
    expect(codes(wrong).slice(19)).toEqual(['wrong_password', 'too_many_guesses'])
  })

  test('200 does not delay a sign-in that began before another guess and is counted after it', async () => {
    expect((await signIn({ password: 'wrong' })).body.code).toBe('wrong_password')
    clock -= 1
    expect((await signIn()).status).toBe(200)
    clock += 1
  })

  test('401 a page of another site can do nothing with the cookie, but the panel can, even in browsers that send few headers', async () => {
    const token = owner.sessionToken
    const { cookie } = ofBrowser(token)
    const ask = (method: string, path: string, headers: Record<string, string>) =>
      api.call(method, path, method === 'GET' ? undefined : {}, { cookie, ...headers })
    const replies = [
      await ask('GET', '/v1/sites', { 'sec-fetch-site': 'same-site' }),
      await ask('POST', '/v1/sites', { 'sec-fetch-site': 'cross-site', origin: 'http://localhost:80' }),
      await ask('POST', '/v1/sites', { origin: 'http://evil.localhost' }),
      await ask('POST', '/v1/sites', {}),
      await ask('GET', '/v1/session', {}),
    ]
    expect(codes(replies)).toEqual(Array.from({ length: 5 }, () => 'cross_site'))
    expect(codes([await ask('GET', '/v1/sites', {}), await ask('GET', '/v1/session', { 'stead-panel': '1' })])).toEqual(
      [200, 200],
    )
    expect((await ask('POST', '/v1/sites', { origin: 'http://localhost:80' })).body.code).toBe('invalid_input')
    expect((await signIn({}, { origin: 'https://elsewhere.example' })).body.code).toBe('cross_site')
  })

  test('200 signing out ends only this session, at once, and an account can end its sessions by id', async () => {
    const [first, second] = [tokenOf(await signIn()), tokenOf(await signIn())]
    const out = await api.call('DELETE', '/v1/session', undefined, ofBrowser(first))
    expect([out.status, String(out.headers['set-cookie'])]).toEqual([200, expect.stringContaining('Max-Age=0')])
    expect([(await me(first)).status, (await me(second)).status]).toEqual([401, 200])
    const { id } = (await me(second)).body.data
    const { body } = await owner.browse('GET', '/v1/sessions')
    expect(body.data.map((each: { id: number }) => each.id)).toContain(id)
    expect((await owner.call('DELETE', `/v1/sessions/${id}`)).status).toBe(200)
    expect((await me(second)).status).toBe(401)
  })

  test('200 extends a session that is used, and ends one that is not', async () => {
    const [token, unused] = [tokenOf(await signIn()), tokenOf(await signIn())]
    const day = 86_400_000
    const { proven_until: provenUntil, expires_at: firstEnd } = (await me(token)).body.data
    expect([provenUntil, firstEnd]).toEqual(
      [clock + 15 * MINUTE, clock + 30 * day].map((at) => new Date(at).toISOString()),
    )
    clock += 15 * MINUTE
    expect((await me(token)).body.data.proven_until).toBeNull()
    // Not with each request, but once an hour.
    clock += 45 * MINUTE
    expect((await me(token)).headers['set-cookie']).toBeUndefined()
    clock += 1
    expect((await me(token)).headers['set-cookie']).toBeDefined()
    clock += 29 * day
    const renewed = await me(token)
    expect([renewed.status, tokenOf(renewed)]).toEqual([200, token])
    const seen = api.database.read.selectFrom('sessions').select('seen_at').where('account_id', '=', owner.accountId)
    const times = (await seen.execute()).map(({ seen_at }) => seen_at)
    expect(times.filter((time) => time === clock)).toHaveLength(1)
    clock += 29 * day
    expect((await me(token)).status).toBe(200)
    expect((await me(unused)).body.code).toBe('invalid_token')
    clock += 31 * day
    expect((await me(token)).body.code).toBe('invalid_token')
  })

  test('403 irreversible actions require the session’s password again after 15 minutes, but never from a token', async () => {
    const token = tokenOf(await signIn())
    const remove = () => api.call('DELETE', '/v1/totp', undefined, ofBrowser(token))
    expect((await remove()).status).toBe(200)
    clock += 16 * MINUTE
    expect((await remove()).body.code).toBe('proof_needed')
    const prove = (password: string) => api.call('POST', '/v1/session/proof', { password }, ofBrowser(token))
    expect(codes([await prove('wrong'), await remove(), await prove(PASSWORD), await remove()])).toEqual([
      'wrong_password',
      'proof_needed',
      200,
      200,
    ])
    const { proven_until: until } = (await prove(PASSWORD)).body.data
    expect(Date.parse(until)).toBe(clock + 15 * MINUTE)
    expect((await owner.call('DELETE', '/v1/totp')).status).toBe(200)
  })

  test('200 requires codes of a confirmed authenticator app, and accepts each one once, like recovery codes', async () => {
    const begun = (await owner.browse('POST', '/v1/totp')).body.data
    expect(begun.uri).toContain(`secret=${begun.secret}`)
    await withTotp(api, owner.accountId, false)
    expect((await signIn()).status).toBe(200)
    for (const code of ['é12345', '12345', '1234567', '', '١٢٣٤٥٦'])
      expect((await owner.browse('PUT', '/v1/totp', { code })).body.code).toBe('wrong_code')
    const confirmed = await owner.browse('PUT', '/v1/totp', { code: codeNow(clock) })
    const [recovery] = confirmed.body.data.recovery_codes
    expect((await owner.browse('PUT', '/v1/totp', { code: '000000' })).body.code).toBe('totp_active')
    expect(codes([await signIn(), await signIn({ code: '000000' }), await signIn({ code: codeNow(clock) })])).toEqual([
      'code_needed',
      'wrong_code',
      'wrong_code',
    ])
    clock += MINUTE
    const replies = await Promise.all([1, 2].map(() => signIn({ code: codeNow(clock) })))
    expect(codes(replies).toSorted()).toEqual([200, 'wrong_code'])
    clock += MINUTE
    // The codes of another account do not affect this one.
    const other = await api.person('other@example.com')
    await withTotp(api, other.accountId, true)
    await other.browse('DELETE', '/v1/totp')
    expect(codes([await signIn({ code: recovery.toUpperCase() }), await signIn({ code: recovery })])).toEqual([
      200,
      'wrong_code',
    ])
  })

  test('200 requires no codes of an authenticator app that was removed', async () => {
    await withTotp(api, owner.accountId, true)
    expect(codes([await signIn()])).toEqual(['code_needed'])
    await owner.browse('DELETE', '/v1/totp')
    expect((await signIn()).status).toBe(200)
  })

  test('200 accepts the codes of the previous and the next step once, and none older than a used one', async () => {
    await withTotp(api, owner.accountId, true)
    const at = (ms: number) => signIn({ code: codeNow(clock + ms) })
    const STEP = 30_000
    expect(codes([await at(-2 * STEP), await at(-STEP), await at(-STEP), await at(0)])).toEqual([
      'wrong_code',
      200,
      'wrong_code',
      200,
    ])
    expect(codes([await at(STEP), await at(STEP), await at(0)])).toEqual([200, 'wrong_code', 'wrong_code'])
  })

  test('401 for the code of another account, and its recovery code', async () => {
    const other = await api.person('other@example.com')
    await withTotp(api, owner.accountId, true)
    const { secret } = (await other.browse('POST', '/v1/totp')).body.data
    const codeOf = (base32: string) => new TOTP({ secret: Secret.fromBase32(base32) }).generate({ timestamp: clock })
    const confirmed = await other.browse('PUT', '/v1/totp', { code: codeOf(secret) })
    const [recovery] = confirmed.body.data.recovery_codes
    clock += MINUTE
    expect(codeOf(secret)).not.toBe(codeNow(clock))
    expect(codes([await signIn({ code: codeOf(secret) }), await signIn({ code: recovery })])).toEqual([
      'wrong_code',
      'wrong_code',
    ])
    expect((await signIn({ code: codeNow(clock) })).status).toBe(200)
  })

  test('429 allows five guesses of a code with the right password, even at once, and then refuses even the right code', async () => {
    await withTotp(api, owner.accountId, true)
    const guess = (n: number) => signIn({ code: String(n).padStart(6, '0') })
    const replies: Reply[] = []
    for (let n = 0; n < 5; n++) replies.push(await guess(n))
    expect(codes(replies)).toEqual(replies.map(() => 'wrong_code'))
    const flood = await Promise.all(Array.from({ length: 8 }, (_, n) => guess(10 + n)))
    expect(codes([...flood, await signIn({ code: codeNow(clock) })])).toEqual(
      Array.from({ length: 9 }, () => 'too_many_guesses'),
    )
    // Each further one waits twice as long, up to a quarter of an hour: 96 guesses a day, of a million codes.
    const waits: number[] = []
    for (let n = 0; n < 12; n++) {
      const { headers } = await guess(n)
      const seconds = Number(headers['retry-after'])
      waits.push(seconds)
      clock += seconds * 1000
      expect((await guess(n)).body.code).toBe('wrong_code')
    }
    expect(waits.slice(0, 3)).toEqual([2, 4, 8])
    expect(waits.at(-1)).toBe(15 * 60)
  })

  test('429 counts guesses of a code from many networks together, and delays the owner for at most half a minute', async () => {
    await withTotp(api, owner.accountId, true)
    const from = (n: number, code: string) =>
      signIn({ code }, { 'x-forwarded-for': `203.0.${Math.floor(n / 250)}.${n % 250}` })
    for (let n = 0; n < 100; n++) expect((await from(n, '000000')).body.code).toBe('wrong_code')
    for (let n = 100; ; n++) {
      const { body, headers } = await from(n, '000000')
      if (body.code === 'wrong_code') continue
      expect(body.code).toBe('too_many_guesses')
      expect(Number(headers['retry-after'])).toBeLessThanOrEqual(30)
      expect(n).toBeLessThan(110)
      break
    }
    clock += MINUTE
    expect((await signIn({ code: codeNow(clock) })).status).toBe(200)
  })

  test('200 reports how many recovery codes the account has left, without those of others', async () => {
    const other = await api.person('other@example.com')
    for (const { accountId } of [owner, other]) await withTotp(api, accountId, false)
    const confirm = (by: Person) => by.browse('PUT', '/v1/totp', { code: codeNow(clock) })
    const [{ body }] = [await confirm(owner), await confirm(other)]
    const left = async () => (await owner.browse('GET', '/v1/session')).body.data.recovery_codes
    expect(await left()).toBe(10)
    expect((await signIn({ code: body.data.recovery_codes[3] })).status).toBe(200)
    expect(await left()).toBe(9)
  })

  test('400 of two simultaneous confirmations of an app, only one returns recovery codes, and only those count', async () => {
    await withTotp(api, owner.accountId, false)
    const confirm = () => owner.browse('PUT', '/v1/totp', { code: codeNow(clock) })
    const replies = await Promise.all([confirm(), confirm(), confirm()])
    expect(codes(replies).toSorted()).toEqual([200, 'totp_active', 'totp_active'])
    const kept = await api.database.read.selectFrom('recovery_codes').selectAll().execute()
    expect(kept).toHaveLength(10)
  })

  test('200 a link sets the password once, ends all sessions and starts one', async () => {
    const before = tokenOf(await signIn())
    const token = await withLink(api, owner.accountId, 'x')
    const use = (body: object = {}) => api.call('POST', '/v1/password-links/use', { token, password: NEW, ...body })
    expect((await use({ password: 'short' })).body.errors[0]).toBe('password: must have at least 10 characters.')
    const replies = await Promise.all([use(), use()])
    expect(codes(replies).toSorted()).toEqual([200, 'link_spent'])
    const used = replies.find(({ status }) => status === 200) as Reply
    expect([(await me(before)).status, (await me(tokenOf(used))).status]).toEqual([401, 200])
    expect(codes([await signIn(), await signIn({ password: NEW })])).toEqual(['wrong_password', 200])
  })

  test('400 for a link that is too old, and for one after another was used', async () => {
    const [old, other] = [await withLink(api, owner.accountId, 'a'), await withLink(api, owner.accountId, 'b')]
    const use = (token: string) => api.call('POST', '/v1/password-links/use', { token, password: NEW })
    clock += 61 * MINUTE
    expect((await use(old)).body.code).toBe('link_spent')
    clock -= 61 * MINUTE
    const stranger = await api.person('stranger@example.com')
    const theirs = await withLink(api, stranger.accountId, 'theirs')
    expect(codes([await use(other), await use(old), await use(theirs)])).toEqual([200, 'link_spent', 200])
  })

  test('401 a link also requires a code, because mail access is not enough, and counts guesses', async () => {
    await withTotp(api, owner.accountId, true)
    const token = await withLink(api, owner.accountId, 'x')
    const use = (code?: string) => api.call('POST', '/v1/password-links/use', { token, password: NEW, code })
    const replies = [await use()]
    for (let guess = 0; guess < 5; guess++) replies.push(await use('000000'))
    expect(codes(replies)).toEqual([
      'code_needed',
      ...Array.from({ length: 4 }, () => 'wrong_code'),
      'too_many_guesses',
    ])
    clock += MINUTE
    expect((await use(codeNow(clock))).status).toBe(200)
  })

  test('401 a code that was used to sign in does not open a link, so that seeing it is not enough', async () => {
    await withTotp(api, owner.accountId, true)
    const token = await withLink(api, owner.accountId, 'x')
    const use = (code: string) => api.call('POST', '/v1/password-links/use', { token, password: NEW, code })
    const seen = codeNow(clock)
    expect((await signIn({ code: seen })).status).toBe(200)
    expect(codes([await use(seen), await signIn({ code: seen })])).toEqual(['wrong_code', 'wrong_code'])
    clock += MINUTE
    expect((await use(codeNow(clock))).status).toBe(200)
  })

  test('200 changing the password needs the old one, and ends the other sessions', async () => {
    const [mine, other] = [tokenOf(await signIn()), tokenOf(await signIn())]
    const change = (current: string) =>
      api.call('PUT', '/v1/password', { current_password: current, password: NEW }, ofBrowser(mine))
    expect(codes([await change('wrong'), await change(PASSWORD)])).toEqual(['wrong_password', 200])
    expect([(await me(mine)).status, (await me(other)).status]).toEqual([200, 401])
  })

  test('200 mails a link to an existing account, without revealing it in the answer or the secret in any record', async () => {
    const outboxDir = join(api.config.dataDir, `outbox-${dialect}-${clock}`)
    const mailer = createMailer({ smtpUrl: undefined, from: api.config.mailFrom, outboxDir, panelUrl: '' })
    const services = { mailer, config: api.config, database: api.database }
    const worker = startWorker(api.database, [mailLink], { runner: 'control', services, lookEveryMs: 20 })
    const ask = (email: string) => api.call('POST', '/v1/password-links', { email })
    const [known, unknown] = [await ask('Owner@example.com'), await ask('nobody@example.com')]
    expect([known.body, known.headers['operation-id']]).toEqual([unknown.body, undefined])
    const mails = () => readdir(outboxDir).catch(() => [])
    await expect.poll(mails).toHaveLength(1)
    const text = await readFile(join(outboxDir, (await mails())[0] as string), 'utf8')
    const token = /set-password\/([\w-]{43})/.exec(text.replaceAll('=\r\n', '').replaceAll('=\n', ''))?.[1] as string
    const rows = await api.database.read.selectFrom('operations').selectAll().execute()
    expect(JSON.stringify(rows)).not.toContain(token)
    const used = await api.call('POST', '/v1/password-links/use', { token, password: NEW })
    expect(used.status).toBe(200)
    await worker.stop(1000)
    mailer.close()
  })

  const deliver = async (error: Error | undefined, operationId = 1) => {
    const mailer = {
      async deliver() {
        if (error) throw error
      },
    }
    return mailLink.steps.deliver?.run?.({
      services: { mailer, config: api.config, database: api.database },
      input: { accountId: owner.accountId, kind: 'lost' },
      ...{ operationId, signal: new AbortController().signal, now: () => clock },
      transaction: (work: never) => api.database.transaction(work),
    } as never)
  }

  test('mails at most three links an hour to an account, and counts a mail with many attempts once', async () => {
    const away = new Error('the server is away')
    for (let attempt = 0; attempt < 5; attempt++) await expect(deliver(away, 1)).rejects.toBe(away)
    for (const operationId of [1, 2, 3]) await deliver(undefined, operationId)
    await expect(deliver(undefined, 4)).rejects.toThrow(PermanentFailure)
    await deliver(undefined, 3)
    clock += 61 * MINUTE
    await deliver(undefined, 4)
  })

  test('retries a mail that cannot be delivered now, but not one that the server refuses', async () => {
    const away = new Error('the server is away')
    await expect(deliver(away)).rejects.toBe(away)
    await expect(deliver(new MailRefused('nobody of that name'))).rejects.toThrow(PermanentFailure)
  })
})
