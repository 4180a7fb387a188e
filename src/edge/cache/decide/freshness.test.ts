import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, test } from 'vitest'
import { createCleanup, eventually, rawConnect } from '../../test-support.ts'
import { clockOf, decoders, file, page, startCachedSite, statusOf } from '../test-support.ts'
import { type Lifetime, lifetimeOf } from './lifetime.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const shiftClock = () => clockOf(cleanup)

test('serves the old page once more after ten minutes while it fetches a new one, and only a new one after an hour', async () => {
  const pass = shiftClock()
  const site = await startCachedSite(cleanup, (_request, response, count) => page(response, `page ${count}`))
  await site.get('/')
  pass(601_000)
  await site.feed.refresh()
  const stale = await site.get('/')
  expect([stale.body, Number(stale.headers.age) > 600, statusOf(stale)]).toEqual([
    'page 1',
    true,
    expect.stringContaining('detail=stale'),
  ])
  await eventually(() => site.cache.stats().originFetches === 0)
  const fresh = await site.get('/')
  expect([fresh.body, fresh.headers.age, site.asked.length]).toEqual(['page 2', '0', 2])
  pass(600_000 + 3_600_000 + 1_000)
  await site.feed.refresh()
  expect((await site.get('/')).body).toBe('page 3')
})

test('makes one request to the host for many visitors of a stale page', async () => {
  const pass = shiftClock()
  let answer = () => {}
  const site = await startCachedSite(cleanup, (_request, response, count) => {
    answer = () => page(response, `page ${count}`)
    if (count === 1) answer()
  })
  await site.get('/')
  pass(700_000)
  await site.feed.refresh()
  const bodies = await Promise.all(Array.from({ length: 50 }, async () => (await site.get('/')).body))
  expect(new Set(bodies)).toEqual(new Set(['page 1']))
  await eventually(() => site.asked.length === 2)
  answer()
  await eventually(() => site.cache.stats().originFetches === 0)
  expect([(await site.get('/')).body, site.asked.length]).toEqual(['page 2', 2])
})

test('makes one request to the host for many visitors of a new page, and all get the page', async () => {
  const site = await startCachedSite(cleanup, (_request, response, count) =>
    setTimeout(() => page(response, `page ${count}`), 1_000),
  )
  const replies = await Promise.all(Array.from({ length: 100 }, () => site.get('/')))
  expect(new Set(replies.map((reply) => reply.body))).toEqual(new Set(['page 1']))
  expect(site.asked.length).toBe(1)
  expect(replies.filter((reply) => statusOf(reply).includes('collapsed')).length).toBe(99)
})

test('sends visitors to the host if they wait too long, or if the page cannot be shared', async () => {
  const site = await startCachedSite(
    cleanup,
    (request, response, count) => {
      if (request.url === '/private/') setTimeout(() => page(response, `own ${count}`, { 'set-cookie': 'a=b' }), 50)
      else if (count > 1) page(response, `page ${count}`)
    },
    { cache: { patienceMs: 100 } },
  )
  const stuck = site.get('/')
  stuck.catch(() => {})
  await eventually(() => site.asked.length === 1)
  expect((await site.get('/')).body).toBe('page 2')
  const own = await Promise.all([1, 2, 3].map(() => site.get('/private/')))
  expect(new Set(own.map((reply) => reply.body)).size).toBe(3)
})

test('cancels the fetch when all visitors have left, and continues it while one still waits', async () => {
  let aborted = 0
  const site = await startCachedSite(cleanup, (request, response, count) => {
    request.socket.once('close', () => aborted++)
    if (request.url === '/b/') setTimeout(() => page(response, `page ${count}`), 150)
  })
  const alone = await rawConnect(site.port, cleanup)
  alone.socket.write('GET /a/ HTTP/1.1\r\nHost: site.test\r\n\r\n')
  await eventually(() => site.asked.length === 1)
  alone.socket.destroy()
  await eventually(() => aborted === 1)
  const first = await rawConnect(site.port, cleanup)
  first.socket.write('GET /b/ HTTP/1.1\r\nHost: site.test\r\n\r\n')
  await eventually(() => site.asked.length === 2)
  const second = site.get('/b/')
  await new Promise((resolve) => setTimeout(resolve, 30))
  first.socket.destroy()
  expect((await second).body).toBe('page 2')
})

test('serves the last page for hours while the host fails, and never stores an error', async () => {
  const pass = shiftClock()
  let broken = false
  const site = await startCachedSite(cleanup, (_request, response, count) =>
    page(response, `page ${count}`, {}, broken ? 503 : 200),
  )
  await site.get('/')
  broken = true
  pass(5 * 3_600_000)
  await site.feed.refresh()
  for (let i = 0; i < 3; i++) {
    const stale = await site.get('/')
    expect([stale.status, stale.body, statusOf(stale)]).toEqual([
      200,
      'page 1',
      expect.stringContaining('detail=host-failed'),
    ])
  }
  expect((await site.get('/new/')).status).toBe(503)
  broken = false
  expect((await site.get('/new/')).status).toBe(200)
  expect((await site.get('/')).body).not.toBe('page 1')
})

test('revalidates a stale file by its validator, and keeps it when the host confirms it', async () => {
  const pass = shiftClock()
  const site = await startCachedSite(cleanup, (request, response, count) => {
    if (request.headers['if-none-match'] === '"v1"')
      response
        .writeHead(304, { etag: '"v1"', 'x-stead-renderer': 'static', 'cache-control': 'public, max-age=60' })
        .end()
    else file(response, `a{b:${count}}`, { etag: '"v1"', 'cache-control': 'public, max-age=60' })
  })
  const first = await site.get('/a.css')
  expect(first.body).toBe('a{b:1}')
  pass(61_000)
  await site.feed.refresh()
  // Explicit lifetimes of files allow a stale copy during revalidation.
  expect((await site.get('/a.css')).body).toBe('a{b:1}')
  await eventually(() => site.asked.length === 2 && site.cache.stats().originFetches === 0)
  const renewed = await site.get('/a.css')
  expect([renewed.body, renewed.headers.age, renewed.headers.etag]).toEqual(['a{b:1}', '0', '"v1"'])
  expect(site.asked.length).toBe(2)
})

test('makes one compressed copy for each coding, with its own validator, and sends ranges of the uncompressed body', async () => {
  const text = '<p>hello</p>'.repeat(1000)
  const site = await startCachedSite(cleanup, (_request, response) => page(response, text))
  await site.get('/')
  const etag = (await site.get('/')).headers.etag as string
  for (const coding of ['br', 'zstd', 'gzip'] as const) {
    const headers = { 'accept-encoding': coding }
    const readCoding = async () => (await site.get('/', headers)).headers['content-encoding']
    await eventually(async () => (await readCoding()) === coding)
    const request = get({ port: site.port, host: '127.0.0.1', headers: { host: 'site.test', ...headers } })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    const bytes = await buffer(response)
    expect(decoders[coding](bytes).toString()).toBe(text)
    const coded = await site.get('/', headers)
    expect([coded.headers.vary, coded.headers.etag]).toEqual(['Accept-Encoding', `W/${etag}`])
    expect((await site.get('/', { ...headers, 'if-none-match': `W/${etag}` })).status).toBe(304)
    expect((await site.get('/', { ...headers, range: 'bytes=0-2' })).body).toBe('<p>')
  }
  expect(
    (await site.get('/', { 'accept-encoding': 'gzip;q=0, br;q=0.5, zstd;q=0.8' })).headers['content-encoding'],
  ).toBe('zstd')
  expect((await site.get('/', { 'accept-encoding': 'identity' })).body).toBe(text)
  expect(site.asked.length).toBe(1)
})

const facts = (headers: Record<string, string | string[]>, status = 200, tier: 'page' | 'file' = 'page') =>
  lifetimeOf(
    {
      status,
      headers: Object.entries(headers).flatMap(([name, values]) => [values].flat().flatMap((value) => [name, value])),
      tier,
      isPrivate: false,
    },
    Date.parse('2026-01-01T00:00:00Z'),
  )

test.each([
  [{ 'Cache-Control': 'max-age=60' }, 60],
  [{ 'cache-control': 'max-age=60, s-maxage=120' }, 120],
  [{ 'cache-control': 'S-MaxAge="30"' }, 30],
  [{ 'cache-control': 'max-age=60', age: '20' }, 60],
  [{ expires: 'Thu, 01 Jan 2026 00:01:00 GMT' }, 60],
  [{ expires: 'Thu, 01 Jan 2026 00:01:00 GMT', 'cache-control': 'max-age=5' }, 5],
  [{}, 600],
  [{ expires: 'Thursday, 01-Jan-26 00:01:00 GMT' }, 60],
  [{ expires: 'Thu Jan  1 00:01:00 2026' }, 60],
  [{ expires: 'Thu, 01 Jan 2026 02:01:00 GMT', date: 'Thu, 01 Jan 2026 02:00:00 GMT' }, 60],
  [{ vary: 'accept-encoding' }, 600],
])('keeps %o for %d s, by explicit and guessed lifetimes', (headers, seconds) => {
  expect((facts(headers as never) as Lifetime).freshMs).toBe(seconds * 1000)
})

test("keeps an answer of the site's own page cache for seconds, whatever its headers say", () => {
  const brief = (headers: string[]) =>
    lifetimeOf({ status: 200, headers, tier: 'page', isPrivate: false, isBrief: true }, 0)
  expect(brief([])).toMatchObject({ freshMs: 10_000, staleMs: 0 })
  expect(brief(['Cache-Control', 'max-age=3600'])).toMatchObject({ freshMs: 10_000, staleMs: 0 })
  expect(brief(['Cache-Control', 'max-age=5'])).toMatchObject({ freshMs: 5_000 })
  expect(brief(['Cache-Control', 'no-store'])).toBe('no-store')
})

test('does not keep answers that forbid it, temporary redirects, errors, or nonsense', () => {
  for (const headers of [
    { 'cache-control': 'public, NO-STORE' },
    { 'cache-control': 'no-cache="set-cookie"' },
    { 'cache-control': 'max-age=abc' },
    { expires: '0' },
    { expires: '2099-01-01' },
    { expires: ['Fri, 01 Jan 2099 00:00:00 GMT', 'Fri, 01 Jan 2099 00:00:00 GMT'] },
    { expires: 'Thu, 01 Jan 2026 00:01:00 GMT', date: 'Thu, 01 Jan 2026 00:01:00 GMT' },
    { 'cache-control': 'max-age=60', age: 'abc' },
    { 'cache-control': 'max-age=60', age: ['0', '0'] },
    { age: '601' },
    { pragma: 'no-cache' },
    { 'cache-control': 'max-age=60', age: '61' },
  ])
    expect([headers, typeof facts(headers as never)]).toEqual([headers, 'string'])
  for (const status of [201, 204, 206, 302, 304, 307, 400, 401, 403, 429, 500, 502, 503])
    expect([status, typeof facts({}, status)]).toEqual([status, 'string'])
  for (const status of [401, 403, 429, 500, 503])
    expect([status, typeof facts({ 'cache-control': 'max-age=60' }, status)]).toEqual([status, 'string'])
  for (const status of [400, 404, 405, 410, 414, 418])
    expect((facts({ 'cache-control': 'max-age=9999' }, status) as Lifetime).freshMs).toBe(30_000)
  expect(facts({ 'cache-control': 's-maxage=60' })).toMatchObject({ staleMs: 0, staleIfErrorMs: 0 })
  expect(facts({ 'cache-control': 'max-age=60, stale-while-revalidate=30' })).toMatchObject({ staleMs: 30_000 })
})
