import Type from 'typebox'
import { afterEach, describe, expect, it } from 'vitest'
import type { Endpoint } from './endpoint.ts'
import { createLab, json, type Lab, type LabOptions } from './test-support.ts'

const common = { tag: 'Lab', summary: 'Test', access: 'any', response: Type.Object({ value: Type.String() }) }
let value = 'first'
const endpoints: Endpoint[] = [
  {
    ...common,
    id: 'read',
    method: 'GET',
    path: '/v1/thing',
    etag: true,
    handle: async () => ({ value, secret: 'not in the schema' }),
  },
  {
    ...common,
    id: 'open',
    method: 'POST',
    path: '/v1/open',
    access: 'public',
    rate: 'address',
    handle: async () => ({ value }),
  },
]

let lab: Lab
const open = async (options: LabOptions = {}) => {
  lab = await createLab(endpoints, options)
}
afterEach(() => lab.close())

describe('ETag', () => {
  it('304 while the client has the current version, 200 after a change', async () => {
    await open()
    value = 'first'
    const first = await lab.inject('GET', '/v1/thing')
    const tag = first.headers.etag as string
    for (const known of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const again = await lab.inject('GET', '/v1/thing', { headers: { 'if-none-match': known } })
      expect([known, again.statusCode, again.body, again.headers.etag]).toEqual([known, 304, '', tag])
      expect(again.headers['content-length'] ?? '0').toBe('0')
    }
    value = 'second'
    const changed = await lab.inject('GET', '/v1/thing', { headers: { 'if-none-match': tag } })
    expect([changed.statusCode, changed.json().data.value]).toEqual([200, 'second'])
    expect(changed.headers.etag).not.toBe(tag)
  })

  it('is absent on failures', async () => {
    await open({ rateLimit: 1 })
    await lab.inject('GET', '/v1/thing')
    const refused = await lab.inject('GET', '/v1/thing', { headers: { 'if-none-match': '*' } })
    expect([refused.statusCode, refused.headers.etag]).toEqual([429, undefined])
  })
})

describe('X-Request-Id', () => {
  it('is on every response, and repeats the given one if it is safe to log', async () => {
    await open()
    const given = await lab.inject('GET', '/v1/thing', { headers: { 'x-request-id': 'from:client-1.2' } })
    expect(given.headers['x-request-id']).toBe('from:client-1.2')
    for (const [method, path] of [
      ['GET', '/v1/thing'],
      ['GET', '/nothing'],
      ['PATCH', '/v1/thing'],
      ['GET', '/healthz'],
      ['GET', '/%zz'],
    ] as const)
      for (const bad of ['{"a":1}', 'a b', 'x'.repeat(129), '']) {
        const id = (await lab.inject(method, path, { headers: { 'x-request-id': bad } })).headers['x-request-id']
        expect([path, String(id)]).toEqual([path, expect.stringMatching(/^[\da-f-]{36}$/)])
      }
  })
})

describe('rate limits', () => {
  it('429 past the limit, with the time until the window ends; then requests pass again', async () => {
    await open({ rateLimit: 2 })
    const [first, second, third] = [
      await lab.inject('GET', '/v1/thing'),
      await lab.inject('GET', '/v1/thing'),
      await lab.inject('GET', '/v1/thing'),
    ]
    expect([first.headers.ratelimit, first.headers['ratelimit-policy']]).toEqual([
      '"application";r=1;t=60',
      '"application";q=2;w=60',
    ])
    expect([second.statusCode, second.headers.ratelimit]).toEqual([200, '"application";r=0;t=60'])
    expect([third.statusCode, third.headers['retry-after'], third.headers.ratelimit]).toEqual([
      429,
      '60',
      '"application";r=0;t=60',
    ])
    expect(third.json().errors).toEqual(['Too many requests. Try again in 60 s.'])
    lab.clock += 59_500
    expect((await lab.inject('GET', '/v1/thing')).headers['retry-after']).toBe('1')
    lab.clock += 500
    expect((await lab.inject('GET', '/v1/thing')).headers.ratelimit).toBe('"application";r=1;t=60')
  })

  it('429 does not last longer if the clock is set back', async () => {
    await open({ rateLimit: 1 })
    await lab.inject('GET', '/v1/thing')
    expect((await lab.inject('GET', '/v1/thing')).statusCode).toBe(429)
    lab.clock -= 3_600_000
    expect((await lab.inject('GET', '/v1/thing')).headers.ratelimit).toBe('"application";r=0;t=60')
    expect((await lab.inject('GET', '/v1/thing')).headers['retry-after']).toBe('60')
  })

  it("does not count one application's requests against another", async () => {
    await open({ rateLimit: 1 })
    await lab.inject('GET', '/v1/thing')
    const other = await lab.inject('GET', '/v1/thing', { headers: { authorization: 'Bearer 2' } })
    expect(other.statusCode).toBe(200)
  })

  it('counts public endpoints by address, which no client can fake', async () => {
    await open({ rateLimit: 1 })
    const call = (headers: Record<string, string>, remoteAddress: string) =>
      lab.inject('POST', '/v1/open', { ...json({}, headers), remoteAddress })
    expect((await call({}, '192.0.2.1')).headers.ratelimit).toBe('"token";r=0;t=60')
    expect((await call({ 'x-forwarded-for': '192.0.2.9' }, '192.0.2.1')).statusCode).toBe(429)
    expect((await call({}, '192.0.2.2')).statusCode).toBe(200)
    // An IPv6 visitor has a whole /64.
    expect((await call({}, '2001:db8:1:2::1')).statusCode).toBe(200)
    expect((await call({}, '2001:db8:1:2::ffff')).statusCode).toBe(429)
    expect((await call({}, '2001:db8:1:3::1')).statusCode).toBe(200)
  })

  it('counts by the address that a trusted proxy declares', async () => {
    await open({ rateLimit: 1, trustProxy: ['192.0.2.1'] })
    const call = (address: string) =>
      lab.inject('POST', '/v1/open', { ...json({}, { 'x-forwarded-for': address }), remoteAddress: '192.0.2.1' })
    expect([(await call('198.51.100.1')).statusCode, (await call('198.51.100.2')).statusCode]).toEqual([200, 200])
    expect((await call('198.51.100.1')).statusCode).toBe(429)
  })
})

describe('CORS', () => {
  const preflight = {
    origin: 'https://panel.example.com',
    'access-control-request-method': 'PUT',
    'access-control-request-headers': 'authorization,idempotency-key',
  }

  it('allows the configured origins to read the headers that clients need', async () => {
    await open({ corsOrigins: ['https://panel.example.com'] })
    const asked = await lab.app.inject({ method: 'OPTIONS', url: '/v1/thing', headers: preflight })
    expect([
      asked.statusCode,
      asked.headers['access-control-allow-origin'],
      asked.headers['access-control-allow-headers'],
    ]).toEqual([204, preflight.origin, 'authorization,idempotency-key'])
    expect(asked.headers['access-control-allow-methods']).toBe('GET, POST, PUT, DELETE')
    const read = await lab.inject('GET', '/v1/thing', { headers: { origin: preflight.origin } })
    expect(read.headers['access-control-allow-origin']).toBe(preflight.origin)
    expect(read.headers['access-control-expose-headers']).toMatch(/operation-id.*ratelimit.*retry-after/)
    const refused = await lab.inject('GET', '/v1/thing', {
      headers: { origin: preflight.origin, authorization: 'Bearer 1' },
    })
    expect(refused.headers.vary).toContain('Origin')
  })

  it('allows no other origin, and none at all by default', async () => {
    await open({ corsOrigins: ['https://panel.example.com'] })
    const other = await lab.inject('GET', '/v1/thing', { headers: { origin: 'https://evil.example.com' } })
    expect(other.headers['access-control-allow-origin']).toBeUndefined()
    await lab.close()
    await open()
    expect(
      (await lab.inject('GET', '/v1/thing', { headers: { origin: 'https://panel.example.com' } })).headers[
        'access-control-allow-origin'
      ],
    ).toBeUndefined()
  })
})

describe('fields outside the schema', () => {
  it('are not sent', async () => {
    await open()
    expect((await lab.inject('GET', '/v1/thing')).body).not.toContain('secret')
  })
})
