import { Writable } from 'node:stream'
import { pino } from 'pino'
import Type from 'typebox'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { createLab, json, type Lab } from './test-support.ts'

const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Unsafe<unknown>({}) }
const Options = Type.Object({
  name: Type.Optional(Type.String()),
  list: Type.Optional(Type.Array(Type.Object({ path: Type.Optional(Type.String()) }))),
  any: Type.Optional(Type.Unknown()),
})
const endpoints: Endpoint[] = [
  {
    ...common,
    id: 'echo',
    method: 'POST',
    path: '/v1/echo',
    body: Options,
    query: Options,
    handle: async (_context, { body }) => body,
  },
  {
    ...common,
    id: 'sql',
    method: 'POST',
    path: '/v1/sql',
    handle: async ({ tx }) => tx.selectFrom('no_such_table').selectAll().execute(),
  },
  {
    ...common,
    id: 'crash',
    method: 'POST',
    path: '/v1/crash',
    handle: async () => {
      throw new Error('at /srv/secret/place.ts with password=hunter2', { cause: new Error('deeper') })
    },
  },
  {
    ...common,
    id: 'odd',
    method: 'POST',
    path: '/v1/odd',
    handle: async () => {
      throw 'not even an Error'
    },
  },
  {
    ...common,
    id: 'late',
    method: 'POST',
    path: '/v1/late',
    handle: async () => {
      throw Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:5432'), { code: 'ECONNREFUSED' })
    },
  },
]

let lab: Lab
let lines = ''
beforeAll(async () => {
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines += chunk
      done()
    },
  })
  lab = await createLab(endpoints, { log: pino({ level: 'trace' }, sink) })
})
beforeEach(() => {
  lines = ''
})
afterAll(() => lab.close())

it.each(['sql', 'crash', 'odd'])('500 %s: reveals no internal details, and logs all of them', async (name) => {
  const response = await lab.inject('POST', `/v1/${name}`, json({}))
  const text =
    'Something went wrong on our side. Try again, and give the request id to your operator if it happens again.'
  expect([response.statusCode, response.json()]).toEqual([
    500,
    { message: text, data: null, errors: [text], code: 'internal' },
  ])
  const logged = lines.split('\n').find((line) => line.includes('request failed')) as string
  expect(logged).toContain(response.headers['x-request-id'])
  expect(logged).toMatch({ sql: /no_such_table/, crash: /hunter2.*deeper/s, odd: /not even an Error/ }[name] as RegExp)
})

it('503 with Retry-After while the database is unreachable', async () => {
  const response = await lab.inject('POST', '/v1/late', json({}))
  expect([response.statusCode, response.headers['retry-after'], response.body.includes('10.0.0.7')]).toEqual([
    503,
    '5',
    false,
  ])
})

it('logs no token, no body, no query, and no cookie', async () => {
  const headers = { authorization: 'Bearer 1', cookie: 'session=s3cret-cookie', 'idempotency-key': 's3cret-key' }
  await lab.inject('POST', '/v1/echo?name=s3cret-query', json({ name: 's3cret-body' }, headers))
  await lab.inject('POST', '/v1/echo?name=s3cret-query', json('{"name": "s3cret-body', headers))
  await lab.inject('POST', '/v1/crash?name=s3cret-query', json({ name: 's3cret-body' }, headers))
  await lab.inject('GET', '/nothing?token=s3cret-query', { headers })
  expect(lines).toContain('"path":"/v1/echo"')
  expect(lines).not.toMatch(/s3cret|Bearer/)
})

it.each([
  '{"__proto__": {"polluted": true}, "name": "x"}',
  '{"constructor": {"prototype": {"polluted": true}}, "name": "x"}',
  '{"list": [{"__proto__": {"path": 1, "polluted": true}}], "name": "x"}',
  '{"any": {"__proto__": {"polluted": true}}, "name": "x"}',
])('leaves prototypes unchanged: %s', async (body) => {
  const response = await lab.inject(
    'POST',
    '/v1/echo?__proto__[polluted]=1&constructor.prototype.polluted=1',
    json(body),
  )
  expect([response.statusCode, response.json().data.name]).toEqual([200, 'x'])
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  expect(([] as unknown as { polluted?: boolean }).polluted).toBeUndefined()
})

it('400 for an extremely nested body, in known and unknown fields', async () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const known = await lab.inject('POST', '/v1/echo', json(`{"any": ${deep}}`))
  expect([known.statusCode, known.json().errors]).toEqual([
    400,
    [expect.stringMatching(/^any.*: is nested too deeply$/)],
  ])
  expect((await lab.inject('POST', '/v1/echo', json(`{"other": ${deep}}`))).statusCode).toBe(200)
  const objects = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
  expect((await lab.inject('POST', '/v1/echo', json(`{"list": ${objects}}`))).statusCode).toBeLessThan(500)
})

it('names the field of a fault, never the value', async () => {
  const response = await lab.inject('POST', '/v1/echo', json({ name: { s3cret: 1 } }))
  expect([response.statusCode, response.body.includes('s3cret')]).toEqual([400, false])
})
