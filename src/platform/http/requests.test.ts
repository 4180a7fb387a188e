import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import Type from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { reply } from './endpoint.ts'
import { declareProblems, httpProblems, notFound, Problem } from './problem.ts'
import { nullable, oneOf, pageInfo, pageOf, pageQuery } from './schemas.ts'
import { createLab, json, type Lab } from './test-support.ts'

const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Unsafe<unknown>({}) }
const refusals = declareProblems({
  name_taken: { status: 400, text: 'name: "{name}" is already taken.', remedy: '' },
  site_not_live: { status: 400, text: 'This operation requires a live site, and this site is {state}.', remedy: '' },
})
const Thing = Type.Object({
  name: Type.String({ minLength: 4, maxLength: 8 }),
  count: Type.Optional(Type.Integer({ minimum: 1 })),
  on: Type.Optional(Type.Boolean()),
  kind: Type.Optional(oneOf(['a', 'b'])),
  roles: Type.Optional(Type.Array(Type.String())),
  siteIds: Type.Optional(Type.Array(Type.Integer())),
  until: Type.Optional(nullable(Type.String())),
  plugins: Type.Optional(Type.Array(Type.Object({ path: Type.String({ minLength: 1 }) }))),
  slug: Type.Optional(Type.String({ pattern: '^[a-z]*$', description: 'may have small letters only' })),
  word: Type.Optional(Type.String({ minLength: 1, maxLength: 4, pattern: '^[a-z]+$', description: 'small letters' })),
})

const endpoints: Endpoint[] = [
  {
    ...common,
    id: 'put',
    method: 'PUT',
    path: '/v1/things/{id}',
    params: Type.Object({ id: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) }),
    body: Thing,
    handle: async (_context, input) => input,
  },
  {
    ...common,
    id: 'post',
    method: 'POST',
    path: '/v1/things',
    body: Thing,
    status: 201,
    handle: async (_context, { body }) => body,
  },
  { ...common, id: 'touch', method: 'POST', path: '/v1/touch', handle: async () => 'touched' },
  {
    ...common,
    id: 'remove',
    method: 'DELETE',
    path: '/v1/things/{id}',
    params: Type.Object({ id: Type.Integer({ minimum: 1 }) }),
    handle: async () => null,
  },
  {
    ...common,
    id: 'list',
    method: 'GET',
    path: '/v1/things',
    paged: true,
    query: Type.Object({ on: Type.Optional(Type.Boolean()), tag: Type.Optional(Type.String()), ...pageQuery }),
    handle: async (_context, { query }) =>
      reply({ query, page: pageOf(query) }, { page: pageInfo(pageOf(query), 101), message: 'Listed' }),
  },
  {
    ...common,
    id: 'refuse',
    method: 'POST',
    path: '/v1/refuse',
    handle: async () => {
      throw new Problem(refusals.name_taken, { name: 'x' })
    },
  },
  {
    ...common,
    id: 'forbid',
    method: 'POST',
    path: '/v1/forbid',
    handle: async () => {
      throw new Problem(refusals.site_not_live, { state: 'disabled' })
    },
  },
  {
    ...common,
    id: 'flagged',
    method: 'DELETE',
    path: '/v1/flagged',
    query: Type.Object({ deep: Type.Optional(Type.Boolean()) }),
    handle: async (_context, { query }) => query.deep ?? false,
  },
  {
    ...common,
    id: 'hide',
    method: 'GET',
    path: '/v1/hide',
    handle: async () => {
      throw notFound()
    },
  },
]

let lab: Lab
beforeAll(async () => {
  lab = await createLab(endpoints)
})
afterAll(() => lab.close())

const post = (body: unknown) => lab.inject('POST', '/v1/things', json(body))
const faultsOf = async (body: unknown) => {
  const response = await post(body)
  expect([response.statusCode, response.json().message, response.json().data]).toEqual([
    400,
    'There was a problem processing your request.',
    null,
  ])
  return response.json().errors
}

describe('the envelope', () => {
  it('200 and 201: Success, the data, no errors', async () => {
    const response = await post({ name: 'abcd' })
    expect([response.statusCode, response.json()]).toEqual([
      201,
      { message: 'Success', data: { name: 'abcd' }, errors: null },
    ])
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
    expect((await lab.inject('DELETE', '/v1/things/1')).json()).toEqual({
      message: 'Success',
      data: null,
      errors: null,
    })
  })

  it('200 with its own message, and a page', async () => {
    expect((await lab.inject('GET', '/v1/things')).json()).toMatchObject({
      message: 'Listed',
      errors: null,
      page: { currentPage: 1 },
    })
  })

  it('400 for a rule: the same message for all of them, the rule in errors', async () => {
    expect((await lab.inject('POST', '/v1/refuse')).json()).toEqual({
      message: 'There was a problem processing your request.',
      data: null,
      errors: ['name: "x" is already taken.'],
      code: 'name_taken',
    })
  })

  it('400 for a rule or a state outside the input: its own sentence as message and in errors', async () => {
    const text = 'This operation requires a live site, and this site is disabled.'
    expect((await lab.inject('POST', '/v1/forbid')).json()).toEqual({
      message: text,
      data: null,
      errors: [text],
      code: 'site_not_live',
    })
  })

  it('415 and 422 have their own sentence as well', () => {
    for (const kind of [httpProblems.unsupported_media_type, httpProblems.idempotency_key_reused]) {
      const problem = new Problem(kind, {})
      expect([problem.publicMessage, problem.errors]).toEqual([problem.message, [problem.message]])
    }
  })

  it('DELETE: reads flags from a JSON body as from the query, which wins', async () => {
    const flagOf = async (url: string, payload?: object) =>
      (await lab.inject('DELETE', url, payload ? { payload } : {})).json().data
    expect(await flagOf('/v1/flagged')).toBe(false)
    expect(await flagOf('/v1/flagged?deep=true')).toBe(true)
    expect(await flagOf('/v1/flagged', { deep: true })).toBe(true)
    expect(await flagOf('/v1/flagged?deep=0', { deep: true })).toBe(false)
  })

  const missing = 'We could not locate the requested resources.'
  const unknown = (path: string) => `The API has no path ${path}. See /docs for all paths.`
  it.each([
    ['GET', '/v1/hide', 'not_found', missing],
    ['GET', '/%zz', 'not_found', missing],
    ['PUT', '/v1/things/no-number', 'not_found', missing],
    ['GET', '/v1/nothing?a=secret', 'unknown_path', unknown('/v1/nothing')],
    ['GET', '/', 'unknown_path', unknown('/')],
    ['POST', '/v2/things', 'unknown_path', unknown('/v2/things')],
    ['GET', `/${'a'.repeat(5000)}`, 'unknown_path', unknown(`/${'a'.repeat(199)}...`)],
    ['GET', '/things', 'missing_version', 'API paths start with /v1. Use /v1/things.'],
    // The answer does not depend on the method, because the path is wrong.
    ['GET', '/things/7/', 'missing_version', 'API paths start with /v1. Use /v1/things/7/.'],
  ])('404 %s %.20s: one message, and %s in errors and code', async (method, path, code, text) => {
    const response = await lab.inject(method, path)
    const body = { message: missing, data: null, errors: [text], code }
    expect([response.statusCode, response.json()]).toEqual([404, body])
    expect(response.headers['x-request-id']).toBeTruthy()
  })
})

describe('faults name their fields', () => {
  it.each<[unknown, string[]]>([
    [{}, ['name: is required']],
    [{ name: 'abc' }, ['name: must be at least 4 characters']],
    [{ name: 'abcdefghi' }, ['name: must be at most 8 characters']],
    [{ name: 4 }, ['name: must be a string']],
    [
      { name: 'abc', count: 0, kind: 'c' },
      ['name: must be at least 4 characters', 'count: must be at least 1', 'kind: must be one of a, b'],
    ],
    [{ name: 'abcd', plugins: [{}] }, ['plugins[0].path: is required']],
    [{ name: 'abcd', plugins: [{ path: 'x' }, { path: 1 }] }, ['plugins[1].path: must be a string']],
    [{ name: 'abcd', plugins: [{ path: '' }] }, ['plugins[0].path: must not be empty']],
    [{ name: 'abcd', siteIds: ['x'] }, ['siteIds[0]: must be an integer']],
    [{ name: 'abcd', count: 1.5 }, ['count: must be an integer']],
    [{ name: 'abcd', on: 'maybe' }, ['on: must be true or false']],
    [{ name: 'abcd', slug: 'A1' }, ['slug: may have small letters only']],
    [{ name: 'abcd', word: '' }, ['word: must not be empty']],
    [{ name: 'abcd', word: 'ABCDE' }, ['word: must be at most 4 characters']],
    [{ name: 'a\u0000bc' }, ['name: must not contain NUL characters']],
    [{ name: 'ab\ud800c' }, ['name: must be well-formed Unicode, without unpaired surrogates']],
    [{ name: 'abcd', siteIds: [1e300] }, ['siteIds[0]: is out of range']],
    ['"text"', ['must be an object']],
    ['[1]', ['must be an object']],
    ['7', ['must be an object']],
  ])('400 %j', async (body, faults) => {
    expect(await faultsOf(body)).toEqual(faults)
  })
})

describe('leniency', () => {
  it.each([undefined, '', '{}', '[]', 'null', ' \n', '\ufeff{}'])(
    '200: treats %j as no body where none is needed',
    async (body) => {
      for (const [method, path] of [
        ['POST', '/v1/touch'],
        ['DELETE', '/v1/things/1'],
        ['GET', '/v1/things'],
      ] as const) {
        const response = await lab.inject(method, path, body === undefined ? {} : json(body))
        expect([method, response.statusCode]).toEqual([method, 200])
      }
    },
  )

  it('200: an empty body of any type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream'])
      expect(
        (await lab.inject('POST', '/v1/touch', { headers: { 'content-type': type }, payload: '' })).statusCode,
      ).toBe(200)
  })

  it('400: treats them as {} where fields are required', async () => {
    for (const body of ['', '{}', '[]', 'null']) expect(await faultsOf(body)).toEqual(['name: is required'])
  })

  it('ignores unknown fields and parameters', async () => {
    expect((await post({ name: 'abcd', other: 1, __proto__: { count: 3 } })).json().data).toEqual({ name: 'abcd' })
    expect((await lab.inject('GET', '/v1/things?other=1')).json().data.query).toEqual({})
  })

  it('accepts numbers as text, one role for a list of roles, and null for optional fields', async () => {
    const body = { name: 'abcd', count: '12', siteIds: ['1', '2'], roles: 'wp_access', kind: null, until: null }
    expect((await post(body)).json().data).toEqual({
      name: 'abcd',
      count: 12,
      siteIds: [1, 2],
      roles: ['wp_access'],
      until: null,
    })
  })

  it('400: refuses one value, or an object, for any other list, and an object for roles', async () => {
    for (const siteIds of [1, '1', { id: 1 }])
      expect(await faultsOf({ name: 'abcd', siteIds })).toEqual(['siteIds: must be an array'])
    expect(await faultsOf({ name: 'abcd', roles: { role: 'wp_access' } })).toEqual(['roles: must be an array'])
  })

  it.each<[unknown, boolean]>([
    [true, true],
    ['true', true],
    [1, true],
    ['1', true],
    [false, false],
    ['false', false],
    [0, false],
    ['0', false],
  ])('booleans: %j', async (given, expected) => {
    expect((await post({ name: 'abcd', on: given })).json().data.on).toBe(expected)
    expect((await lab.inject('GET', `/v1/things?on=${given}`)).json().data.query.on).toBe(expected)
  })

  it('accepts a trailing slash, and doubled slashes inside the path', async () => {
    for (const path of ['/v1/things/', '/v1//things', '//v1/things//', '/v1/things/?page=1'])
      expect([path, (await lab.inject('GET', path)).statusCode]).toEqual([path, 200])
  })

  it('reads JSON parameters in the body of a GET like its query, which wins', async () => {
    const response = await lab.inject('GET', '/v1/things?tag=query', json({ tag: 'body', page: '2', on: 1 }))
    expect(response.json().data.query).toEqual({ tag: 'query', page: 2, on: true })
  })

  it('answers HEAD as a GET without its body', async () => {
    const [head, get] = [await lab.inject('HEAD', '/v1/things'), await lab.inject('GET', '/v1/things')]
    expect([head.statusCode, head.body, head.headers['content-length']]).toEqual([
      200,
      '',
      get.headers['content-length'],
    ])
  })
})

describe('pages', () => {
  it.each([
    ['', 1, 20],
    ['?page=3&per_page=10', 3, 10],
    ['?per_page=500', 1, 50],
    ['?per_page=0', 1, 20],
    ['?per_page=-5', 1, 20],
    ['?page=0', 1, 20],
    ['?page=-1', 1, 20],
  ])('%s', async (query, currentPage, perPage) => {
    const { page } = (await lab.inject('GET', `/v1/things${query}`)).json()
    const lastPage = Math.ceil(101 / perPage)
    expect(page).toEqual({
      currentPage,
      perPage,
      lastPage,
      nextPage: currentPage < lastPage ? currentPage + 1 : null,
      totalItems: 101,
    })
  })

  it('reports a page past the end as requested, without a next one', async () => {
    expect((await lab.inject('GET', '/v1/things?page=99')).json().page).toMatchObject({
      currentPage: 99,
      nextPage: null,
      lastPage: 6,
    })
    expect((await lab.inject('GET', '/v1/things?page=9007199254740991')).statusCode).toBe(200)
    expect(pageInfo(pageOf({}), 0)).toMatchObject({ lastPage: 1, totalItems: 0 })
  })

  it('400 for a page that is not a number', async () => {
    expect((await lab.inject('GET', '/v1/things?page=x')).json().errors).toEqual(['page: must be an integer'])
  })
})

describe('malformed requests, and requests that match no endpoint', () => {
  it.each([
    ['{"name": "abcd",}', 'Expected double-quoted property name (line 1, column 17)'],
    ['{\n  "name": abcd\n}', "Unexpected token 'a' (line 2, column 11)"],
    ['{"name": "abcd", "plugins": [{"path": nope}], "more": "text"}', "Unexpected token 'o' (line 1, column 40)"],
    ['!', "Unexpected token '!' (line 1, column 1)"],
    ['{"name"', "Expected ':' after property name (line 1, column 8)"],
    ['{"name": "ab\n"}', 'Bad control character in string literal (line 1, column 13)'],
    ['[1, 2', "Expected ',' or ']' after array element (line 1, column 6)"],
    ['tru', 'Unexpected end of JSON input (line 1, column 4)'],
  ])('400 %j: the fault, with line and column', async (body, place) => {
    expect(await faultsOf(body)).toEqual([`The request body is not valid JSON: ${place}.`])
  })

  it('405 with Allow', async () => {
    const response = await lab.inject('PATCH', '/v1//things/')
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'GET, HEAD, POST'])
    expect(response.json().errors).toEqual(['This path does not support PATCH. Use GET, HEAD, POST.'])
    expect((await lab.inject('POST', '/v1/things/1')).headers.allow).toBe('PUT, DELETE')
  })

  it('413 for a body past the limit, whole or in pieces', async () => {
    const response = await post({ name: 'a'.repeat(1 << 20) })
    expect([response.statusCode, response.json().errors]).toEqual([
      413,
      ['The request body is larger than 1024 kB, the limit of this operation. Send a smaller body.'],
    ])
  })

  it('415 for a compressed body, with the accepted encodings', async () => {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const answer = await lab.inject('POST', '/v1/forbid', { headers, payload: gzipSync('{}') })
    expect([answer.statusCode, answer.json().code, answer.headers['accept-encoding']]).toEqual([
      415,
      'unsupported_media_type',
      'identity',
    ])
    expect(
      (
        await lab.inject('POST', '/v1/forbid', {
          headers: { ...headers, 'content-encoding': 'identity' },
          payload: '{}',
        })
      ).statusCode,
    ).toBe(400)
  })

  it('413 at once if the client announces too many bytes and waits, 100 if it announces fewer', async () => {
    await lab.app.listen({ port: 0, host: '127.0.0.1' })
    const { port } = lab.app.server.address() as AddressInfo
    const ask = async (bytes: number) => {
      const socket = connect(port, '127.0.0.1')
      socket.write(
        `POST /v1/forbid HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: ${bytes}\r\n\r\n`,
      )
      const [first] = (await once(socket, 'data')) as [Buffer]
      socket.destroy()
      return first.toString().split('\r\n')[0]
    }
    expect(await ask((1 << 20) + 1)).toBe('HTTP/1.1 413 Payload Too Large')
    expect(await ask(2)).toBe('HTTP/1.1 100 Continue')
  })

  it('415 for a body that is not JSON', async () => {
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonp',
    ]) {
      const response = await lab.inject('POST', '/v1/things', {
        headers: { 'content-type': type },
        payload: 'name=abcd',
      })
      expect([type, response.statusCode, response.json().errors]).toEqual([
        type,
        415,
        ['Send the request body as application/json.'],
      ])
    }
    expect(
      (
        await lab.inject(
          'POST',
          '/v1/things',
          json({ name: 'abcd' }, { 'content-type': 'application/merge-patch+json; charset=utf-8' }),
        )
      ).statusCode,
    ).toBe(201)
  })

  it('404 for path ids that are not valid ids', async () => {
    for (const id of ['x', '1.0', '-1', '0', '9007199254740992', '1e3', '%00', '%E2%82%AC', '9'.repeat(600)])
      expect([id, (await lab.inject('PUT', `/v1/things/${id}`, json({ name: 'abcd' }))).statusCode]).toEqual([id, 404])
  })
})
