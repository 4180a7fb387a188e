import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../test/support/api.ts'
import { endApplication } from '../resources/account/account.store.ts'
import { ApiError, ConnectionError, Stead, type SteadOptions } from './index.ts'

let api: TestApi
let url: string
let owner: Person
beforeAll(async () => {
  api = await testApi('sqlite')
  url = await api.app.listen({ host: '127.0.0.1', port: 0 })
  owner = await api.person('owner@example.com')
})
afterAll(() => api?.close())

/** A client with the requests that it sent. */
let sent: Request[]
let before: ((request: Request, number: number) => Response | Error | undefined) | undefined
beforeEach(() => {
  sent = []
  before = undefined
})
const client = (options: Partial<SteadOptions> = {}): Stead =>
  new Stead({
    url,
    clientId: owner.clientId,
    clientSecret: owner.clientSecret,
    fetch: async (input, init) => {
      const request = input as Request
      sent.push(request.clone())
      const instead = before?.(request, sent.filter((each) => each.url === request.url).length)
      if (instead instanceof Error) throw instead
      return instead ?? fetch(input, init)
    },
    ...options,
  })
const sentTo = (path: string) => sent.filter((each) => new URL(each.url).pathname === path)
const refusal = (status: number, headers: Record<string, string> = {}) =>
  Response.json({ message: 'm', data: null, errors: ['not now'], code: 'unavailable' }, { status, headers })

describe('tokens', () => {
  test('one token serves requests that begin together, and is kept', async () => {
    const stead = client()
    const [first, second] = await Promise.all([stead.get('/v1/account'), stead.get('/v1/sites')])
    expect([first.data.email, second.data]).toEqual(['owner@example.com', []])
    await stead.get('/v1/account')
    expect(sentTo('/auth/token')).toHaveLength(1)
  })

  test('a token is replaced shortly before it expires', async () => {
    const stead = client()
    const now = Date.now
    try {
      await stead.get('/v1/account')
      Date.now = () => now() + 3_541_000
      await stead.get('/v1/account')
    } finally {
      Date.now = now
    }
    expect(sentTo('/auth/token')).toHaveLength(2)
  })

  test('a refused token is replaced once', async () => {
    before = ({ url }, number) => (url.endsWith('/v1/account') && number <= 1 ? refusal(401) : undefined)
    expect((await client().get('/v1/account')).status).toBe(200)
    expect(sentTo('/auth/token')).toHaveLength(2)
    sent = []
    before = ({ url }) => (url.endsWith('/v1/account') ? refusal(401) : undefined)
    await expect(client().get('/v1/account')).rejects.toMatchObject({ status: 401 })
    expect(sentTo('/v1/account')).toHaveLength(2)
  })

  test('wrong credentials, and a given token that is invalid', async () => {
    await expect(client({ clientSecret: 'wrong' }).get('/v1/account')).rejects.toMatchObject({
      name: 'ApiError',
      status: 401,
      code: 'invalid_client',
    })
    await expect(client({ token: 'none' }).get('/v1/account')).rejects.toMatchObject({ code: 'invalid_token' })
  })

  test('an application that was revoked meanwhile gets the reason from the token endpoint', async () => {
    const other = await api.person('revoked@example.com')
    const stead = client({ clientId: other.clientId, clientSecret: other.clientSecret })
    await stead.get('/v1/account')
    await api.database.transaction((tx) => endApplication(tx, other.clientId, Date.now()))
    await expect(stead.get('/v1/account')).rejects.toMatchObject({ code: 'invalid_client' })
  })
})

describe('a retry', () => {
  test.each([429, 502, 503, 504])('follows %s, with the same key and the same body', async (status) => {
    before = ({ method }, number) =>
      method === 'POST' && number < 3 ? refusal(status, { 'retry-after': '0' }) : undefined
    const { data } = await client({ token: owner.token }).post('/v1/sites/validate', { body: { name: 'some-name' } })
    expect(data).toEqual({ valid: true })
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'))
    expect(keys).toHaveLength(3)
    expect([...new Set(keys)]).toEqual([expect.stringMatching(/^[\w-]{36}$/)])
    expect(await Promise.all(sent.map((each) => each.text()))).toEqual(Array(3).fill('{"name":"some-name"}'))
  })

  test('after a lost answer does the work once', async () => {
    const stead = client({ token: owner.token })
    let isLost = false
    const losing = client({
      token: owner.token,
      fetch: async (input, init) => {
        const answer = await fetch(input, init)
        if (isLost) return answer
        isLost = true
        throw new TypeError('the answer was lost')
      },
    })
    const made = await losing.post('/v1/sites', { body: { name: 'made-once' } })
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    const names = (await Array.fromAsync(stead.list('/v1/sites'))).map(({ name }) => name)
    expect(names.filter((name) => name === 'made-once')).toHaveLength(1)
  })

  test('keeps a key of the caller', async () => {
    await client({ token: owner.token }).post('/v1/sites/validate', {
      body: { name: 'x' },
      headers: { 'Idempotency-Key': 'mine' },
    })
    expect(sent[0]?.headers.get('idempotency-key')).toBe('mine')
  })

  test('ends with the refusal, or with the missing answer', async () => {
    before = () => refusal(503, { 'retry-after': '0' })
    await expect(client({ token: 't', retries: 2 }).get('/v1/account')).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      retryAfterSeconds: 0,
    })
    expect(sent).toHaveLength(3)
    before = () => new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') })
    const failure = await client({ token: 't', retries: 1 })
      .get('/v1/account')
      .catch((error) => error)
    expect(failure).toBeInstanceOf(ConnectionError)
    expect(failure.message).toBe(`${url} does not answer: connect ECONNREFUSED`)
  })

  test('does not follow a permanent refusal, or a long Retry-After', async () => {
    before = () => refusal(400)
    await expect(client({ token: 't' }).get('/v1/account')).rejects.toMatchObject({ status: 400 })
    before = () => refusal(429, { 'retry-after': '600' })
    await expect(client({ token: 't' }).get('/v1/account')).rejects.toMatchObject({ retryAfterSeconds: 600 })
    expect(sent).toHaveLength(2)
  })

  test('does not follow an abort', async () => {
    const leave = new AbortController()
    before = () => {
      leave.abort(new Error('enough'))
      return refusal(503, { 'retry-after': '30' })
    }
    await expect(client({ token: 't' }).get('/v1/account', { signal: leave.signal })).rejects.toThrow('enough')
    expect(sent).toHaveLength(1)
  })
})

test('a refusal has code, texts and the ID of the request', async () => {
  const failure = await client()
    .post('/v1/sites', { body: { name: 'a' } })
    .catch((error) => error)
  expect(failure).toBeInstanceOf(ApiError)
  expect(failure).toMatchObject({
    status: 400,
    code: 'invalid_input',
    errors: [expect.stringMatching(/^name: /)],
    requestId: expect.stringMatching(/^[\w-]+$/),
  })
})

describe('lists', () => {
  test('load page after page, as far as they are read', async () => {
    const many = await api.person('many@example.com')
    for (let n = 100; n < 220; n++) await api.site(many, `many-${n}`)
    const stead = client({ token: many.token })
    const names = (await Array.fromAsync(stead.list('/v1/sites'))).map(({ name }) => name)
    expect([names.length, new Set(names).size, sentTo('/v1/sites').length]).toEqual([120, 120, 3])
    sent = []
    for await (const { name } of stead.list('/v1/sites')) if (name === 'many-110') break
    expect(sent).toHaveLength(1)
    const found = await Array.fromAsync(
      stead.search('/v1/sites/search', { body: { filters: [{ key: 'name', value: 'many-1' }] } }),
    )
    expect(found).toHaveLength(100)
  })

  test('are read to their end, each entry once, while others delete and add', async () => {
    const many = await api.person('changing@example.com')
    const siteId = await api.site(many, 'with-notes')
    const note = (n: number) => ({
      ...{ site_id: siteId, author: 'a', editor: '', subject: `note ${n}`, body: '' },
      ...{ created_at: 1, updated_at: 1 },
    })
    const add = (n: number) =>
      api.database.transaction((tx) =>
        tx
          .insertInto('notes')
          .values(note(n) as never)
          .execute(),
      )
    for (let n = 0; n < 120; n++) await add(n)
    const seen: number[] = []
    for await (const { id } of client({ token: many.token }).list('/v1/sites/{id}/notes', {
      params: { path: { id: siteId } },
    })) {
      seen.push(id)
      await api.database.transaction((tx) => tx.deleteFrom('notes').where('id', '=', id).execute())
      if (seen.length === 60) await add(500)
    }
    expect([seen.length, new Set(seen).size]).toEqual([120, 120])
  })

  test('of an API that has only page numbers load page after page', async () => {
    const pages: number[] = []
    const stead = client({
      fetch: async (input, init) => {
        const { pathname, searchParams } = new URL((input as Request).url)
        if (pathname !== '/v1/webhooks') return fetch(input, init)
        const page = Number(searchParams.get('page') ?? 1)
        pages.push(page)
        const next = page < 2 ? page + 1 : null
        const about = { currentPage: page, nextPage: next, lastPage: 2, perPage: 50, totalItems: 2 }
        return Response.json({ message: 'Success', data: [{ id: page }], errors: null, page: about })
      },
    })
    expect((await Array.fromAsync(stead.list('/v1/webhooks'))).map(({ id }) => id)).toEqual([1, 2])
    expect(pages).toEqual([1, 2])
  })

  test('without pages are read once', async () => {
    expect(await Array.fromAsync(client().list('/v1/sites/php-versions'))).toContain('8.3')
    expect(sentTo('/v1/sites/php-versions')).toHaveLength(1)
  })
})
