import { hash } from 'node:crypto'
import type { InjectOptions } from 'light-my-request'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { apiOver, type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { endApplication } from '../account/account.store.ts'
import { tokenHashOf } from './authenticate.ts'
import { liveTokens } from './token.store.ts'

const HOUR_MS = 3600_000

describe.each(dialects)('tokens on $dialect', ({ dialect, skip }) => {
  if (skip) return void it.skip('no server', () => {})
  let api: TestApi
  let person: Person
  let clock = Date.now()
  beforeAll(async () => {
    api = await testApi(dialect, { now: () => clock })
    person = await api.person('owner@example.com')
  })
  afterAll(() => api.close())

  const form = (fields: Record<string, string>, headers: Record<string, string> = {}): InjectOptions => ({
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  })
  const multipart = (fields: Record<string, string>): InjectOptions => ({
    headers: { 'content-type': 'multipart/form-data; boundary=edge' },
    payload: `${Object.entries(fields)
      .map(([name, value]) => `--edge\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
      .join('')}--edge--\r\n`,
  })
  const json = (fields: object): InjectOptions => ({
    headers: { 'content-type': 'application/json' },
    payload: JSON.stringify(fields),
  })
  const basic = (id: string, secret: string) => ({
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`,
  })
  const post = (path: string, request: InjectOptions) => api.app.inject({ method: 'POST', url: path, ...request })
  const grant = { grant_type: 'client_credentials' }
  const credentials = () => ({ client_id: person.clientId, client_secret: person.clientSecret })
  const newToken = async (): Promise<string> =>
    (await post('/auth/token', form({ ...grant, ...credentials() }))).json().access_token
  const use = async (token: string, app = api.app) =>
    (await app.inject({ url: '/v1/sites', headers: { authorization: `Bearer ${token}` } })).statusCode

  it('looks a token up every time while nothing says whether tokens have changed', async () => {
    const token = await newToken()
    const version = vi.spyOn(api.database.changes, 'version').mockReturnValue(undefined)
    expect(await use(token)).toBe(200)
    await api.database.transaction((tx) =>
      tx
        .updateTable('tokens')
        .set({ revoked_at: 1 })
        .where('hash', '=', tokenHashOf(`Bearer ${token}`))
        .execute(),
    )
    expect(await use(token)).toBe(401)
    version.mockRestore()
  })

  it('looks several tokens up in one query', async () => {
    const [kept, revoked, other] = [await newToken(), await newToken(), await newToken()]
    const hashOf = (token: string) => tokenHashOf(`Bearer ${token}`)
    const live = async (...tokens: string[]) => liveTokens(api.database.read, tokens.map(hashOf))
    await api.database.transaction((tx) =>
      tx.updateTable('tokens').set({ revoked_at: 1 }).where('hash', '=', hashOf(revoked)).execute(),
    )
    const expiresAt = clock + HOUR_MS
    expect(await live(kept, revoked)).toEqual(new Map([[hashOf(kept), expiresAt]]))
    expect([await live(), await live('unknown')]).toEqual([new Map(), new Map()])
    expect((await live(kept, other)).size).toBe(2)
    const mate = await api.person('leaving@example.com')
    await api.database.transaction((tx) =>
      tx.updateTable('applications').set({ revoked_at: 1 }).where('id', '=', mate.applicationId).execute(),
    )
    expect(await live(mate.token)).toEqual(new Map())
  })

  it('200: a token as in RFC 6749 and the API description', async () => {
    const response = await post('/auth/token', form({ ...grant, ...credentials() }))
    expect([response.statusCode, response.headers['cache-control']]).toEqual([200, 'no-store'])
    const { access_token: token, ...rest } = response.json()
    expect(token).toMatch(/^[\w-]{43}$/)
    expect(rest).toEqual({
      token_type: 'Bearer',
      expires_in: 3600,
      scope: 'authorized owner',
      created_at: Math.floor(clock / 1000),
      id: person.accountId,
      name: 'owner',
      email: 'owner@example.com',
      gravatar: `https://www.gravatar.com/avatar/${hash('sha256', 'owner@example.com', 'hex')}?d=mp`,
      scopes: ['authorized', 'owner'],
    })
    expect(await use(token)).toBe(200)
  })

  it('200: without account owner permission there is no scope owner', async () => {
    const plain = await api.person('owner@example.com', { isOwner: false })
    const fields = { ...grant, client_id: plain.clientId, client_secret: plain.clientSecret }
    expect((await post('/auth/token', form(fields))).json()).toMatchObject({
      scope: 'authorized',
      scopes: ['authorized'],
    })
  })

  it('200: as form, multipart, JSON, and with HTTP Basic', async () => {
    const all = { ...grant, ...credentials() }
    const requests = [form(all), multipart(all), json(all), form(grant, basic(person.clientId, person.clientSecret))]
    for (const request of requests) expect((await post('/auth/token', request)).statusCode).toBe(200)
    // A trailing slash, and additional fields.
    expect((await post('/auth/token/', form({ ...all, scope: 'owner' }))).statusCode).toBe(200)
  })

  /** The clients that get a challenge: those that used the header, and those that sent nothing. */
  const isChallenged = new Set(['no secret', 'wrong Basic credentials', 'broken Basic credentials'])
  it.each<[string, number, string, (given: ReturnType<typeof credentials>) => InjectOptions]>([
    ['no fields', 400, 'invalid_request', () => form({})],
    ['another grant', 400, 'unsupported_grant_type', (given) => form({ grant_type: 'password', ...given })],
    ['no secret', 401, 'invalid_client', ({ client_id }) => form({ ...grant, client_id })],
    ['a wrong secret', 401, 'invalid_client', ({ client_id }) => form({ ...grant, client_id, client_secret: 'x' })],
    ['an unknown client', 401, 'invalid_client', () => form({ ...grant, client_id: 'x', client_secret: 'x' })],
    ['wrong Basic credentials', 401, 'invalid_client', ({ client_id }) => form(grant, basic(client_id, 'x'))],
    ['broken Basic credentials', 401, 'invalid_client', () => form(grant, { authorization: 'Basic %%%' })],
    [
      'a client id that cannot be stored',
      400,
      'invalid_request',
      () => form({ ...grant, client_id: '\u0000', client_secret: 'x' }),
    ],
    ['a field twice', 400, 'invalid_request', () => ({ ...form({}), payload: 'grant_type=a&grant_type=b' })],
    ['broken JSON', 400, 'invalid_request', () => ({ ...json({}), payload: '{' })],
    ['a form that is none', 400, 'invalid_request', () => ({ ...multipart({}), payload: 'x' })],
    [
      'a file in the form',
      400,
      'invalid_request',
      () => ({
        ...multipart({}),
        payload: '--edge\r\nContent-Disposition: form-data; name="f"; filename="x"\r\n\r\nabc\r\n--edge--\r\n',
      }),
    ],
    ['another type', 415, 'invalid_request', () => ({ headers: { 'content-type': 'text/xml' }, payload: '<a/>' })],
  ])('answers an RFC 6749 error for %s', async (what, status, error, request) => {
    // A revocation names no grant type, so faults of the grant type do not apply to it.
    const isOfGrant = ['no fields', 'another grant', 'a field twice'].includes(what)
    for (const path of isOfGrant ? ['/auth/token'] : ['/auth/token', '/auth/revoke']) {
      const response = await post(path, request(credentials()))
      expect([path, response.statusCode, response.json()]).toEqual([
        path,
        status,
        { error, error_description: expect.any(String) },
      ])
      expect([response.headers['cache-control'], response.headers['www-authenticate']]).toEqual([
        'no-store',
        isChallenged.has(what) ? 'Basic realm="stead"' : undefined,
      ])
    }
  })

  it('401: a token ends after an hour, by the second', async () => {
    const token = await newToken()
    clock += HOUR_MS - 1
    expect(await use(token)).toBe(200)
    clock += 1
    expect(await use(token)).toBe(401)
  })

  it('401: names the fault of a header, with an error code only when it had a bearer token', async () => {
    const token = await newToken()
    const asked = (authorization: string) => api.app.inject({ url: '/v1/sites', headers: { authorization } })
    const bearer = 'Bearer realm="stead"'
    for (const [header, code, challenge] of [
      ['', 'unauthorized', bearer],
      ['Bearer', 'unauthorized', bearer],
      ['Bearer ', 'unauthorized', bearer],
      [token, 'bare_token', bearer],
      [`Basic ${token}`, 'wrong_scheme', bearer],
      [`Bearer: ${token}`, 'wrong_scheme', bearer],
      [`Bearer ${token} ${token}`, 'invalid_token', `${bearer}, error="invalid_token"`],
      [`Bearer ${token}x`, 'invalid_token', `${bearer}, error="invalid_token"`],
      ['Bearer ä', 'invalid_token', `${bearer}, error="invalid_token"`],
      [`Bearer ${'a'.repeat(513)}`, 'invalid_token', `${bearer}, error="invalid_token"`],
    ] as const) {
      const refused = await asked(header)
      expect([header, refused.statusCode, refused.json().code, refused.headers['www-authenticate']]).toEqual([
        header,
        401,
        code,
        challenge,
      ])
      if (header) expect(refused.body).not.toContain(token)
    }
    for (const good of [`bearer  ${token}`, `BEARER ${token} `]) expect((await asked(good)).statusCode).toBe(200)
  })

  it('revokes at once, here and in another process, and answers 200 without a body for revoked and unknown tokens too', async () => {
    const database = await openDatabase(api.connection)
    const other = await apiOver(database, { now: () => clock })
    try {
      for (let round = 0; round < 20; round++) {
        const token = await newToken()
        expect([await use(token), await use(token, other.app)]).toEqual([200, 200])
        const revoked = await post('/auth/revoke', form({ token, ...credentials() }))
        const elsewhere = await use(token, other.app)
        expect([revoked.statusCode, revoked.body, await use(token), elsewhere]).toEqual([200, '', 401, 401])
        expect((await post('/auth/revoke', form({ token, ...credentials() }))).statusCode).toBe(200)
      }
      expect((await post('/auth/revoke', form({ token: 'unknown', ...credentials() }))).statusCode).toBe(200)
    } finally {
      await other.app.close()
      await database.close()
    }
  })

  it('ends the tokens of a revoked application at once', async () => {
    const other = await api.person('other@example.com')
    expect(await use(other.token)).toBe(200)
    await api.database.transaction((tx) => endApplication(tx, other.clientId, clock))
    expect(await use(other.token)).toBe(401)
    const fields = { ...grant, client_id: other.clientId, client_secret: other.clientSecret }
    expect((await post('/auth/token', form(fields))).statusCode).toBe(401)
  })

  it("200: does not revoke another application's token", async () => {
    const token = await newToken()
    const other = await api.person('third@example.com')
    const fields = { token, client_id: other.clientId, client_secret: other.clientSecret }
    expect([(await post('/auth/revoke', form(fields))).statusCode, await use(token)]).toEqual([200, 200])
  })

  it('answers a revocation without a body, with the JSON type for clients that accept JSON', async () => {
    const fields = { token: 'unknown', ...credentials() }
    for (const [accept, type] of [
      [{}, undefined],
      [{ accept: '*/*' }, undefined],
      [{ accept: 'application/json' }, 'application/json; charset=utf-8'],
    ] as const) {
      const { statusCode, body, headers } = await post('/auth/revoke', form(fields, accept))
      expect([statusCode, body, headers['content-type']]).toEqual([200, '', type])
    }
  })

  it('revokes with Basic, and despite the bearer header that clients add to every request', async () => {
    for (const [headers, fields] of [
      [basic(person.clientId, person.clientSecret), {}],
      [{ authorization: `Bearer ${await newToken()}` }, credentials()],
    ] as const) {
      const token = await newToken()
      expect((await post('/auth/revoke', form({ token, ...fields }, headers))).statusCode).toBe(200)
      expect(await use(token)).toBe(401)
    }
  })

  it('stores no plain token or secret in the database', async () => {
    const token = await newToken()
    const rows = JSON.stringify([
      await api.database.read.selectFrom('tokens').selectAll().execute(),
      await api.database.read.selectFrom('applications').selectAll().execute(),
    ])
    for (const secret of [token, person.token, person.clientSecret]) expect(rows).not.toContain(secret)
    expect(rows).toContain(hash('sha256', token, 'hex'))
  })

  it('429 after 30 token requests in a minute from one address, for any application', async () => {
    const limited = await apiOver(api.database, { settings: { STEAD_TOKEN_RATE_LIMIT: '30' }, now: () => clock })
    const ask = (remoteAddress: string) =>
      limited.app.inject({
        method: 'POST',
        url: '/auth/token',
        remoteAddress,
        ...form({ ...grant, client_id: 'x', client_secret: 'x' }),
      })
    for (let count = 0; count < 30; count++) expect((await ask('192.0.2.1')).statusCode).toBe(401)
    const refused = await ask('192.0.2.1')
    expect([refused.statusCode, refused.headers['retry-after'], refused.headers['cache-control']]).toEqual([
      429,
      '60',
      'no-store',
    ])
    expect(refused.json()).toEqual({
      error: 'invalid_request',
      error_description: 'Too many requests. Try again in 60 s.',
    })
    expect((await ask('192.0.2.2')).statusCode).toBe(401)
    await limited.app.close()
  })
})
