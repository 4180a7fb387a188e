import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createCleanup, eventually } from '../../test-support.ts'
import { clockOf, file, page, startCachedSite, statusOf } from '../test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

type Headers = Record<string, string | string[]>

const minute = { 'cache-control': 'max-age=60' }
const validators = [
  ['ETag', { etag: '"v1"' }, 'if-none-match', '"v1"'],
  ['Last-Modified', { 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' }, 'if-modified-since', undefined],
] as const

const notModified = (response: ServerResponse, headers: Headers) => {
  response.sendDate = false
  response.writeHead(304, headers).end()
}

/**
 * Stores a page with a lifetime of one minute, and lets it expire. The host then answers conditional requests with
 * `told`, and others with a new page.
 */
async function overduePage(first: Headers, told: Headers) {
  const pass = clockOf(cleanup)
  const site = await startCachedSite(cleanup, ({ headers }, response, count) => {
    if (headers['if-none-match'] ?? headers['if-modified-since']) notModified(response, told)
    else page(response, `page ${count}`, { ...minute, ...first })
  })
  await site.get('/')
  const overdue = async (ms = 61_000) => {
    pass(ms)
    await site.feed.refresh()
  }
  await overdue()
  return { site, overdue }
}

describe('an expired page that the host confirms', () => {
  test.each(validators)('is revalidated by its %s, and stays', async (_what, validator, asked) => {
    const { site } = await overduePage(validator, {})
    const renewed = await site.get('/')
    expect([renewed.status, renewed.body, renewed.headers.age]).toEqual([200, 'page 1', '0'])
    expect(statusOf(renewed)).toContain('fwd-status=304')
    expect(site.asked[1]?.headers[asked]).toBe(Object.values(validator)[0])
    expect(site.asked.map(({ headers }) => headers['x-stead-for-all'])).toEqual(['1', undefined])
    expect(statusOf(await site.get('/'))).toContain('; hit')
    expect(site.asked.length).toBe(2)
  })

  test('has what it shows now, and what it showed before if the host does not say', async () => {
    for (const [told, gone, stays] of [
      ['', '/before/', '/now/'],
      ['/now/', '/now/', '/before/'],
    ] as const) {
      const shown = { etag: '"v1"', 'x-stead-shows': '/before/' }
      const { site } = await overduePage(shown, { ...minute, ...(told && { 'x-stead-shows': told }) })
      await site.get('/')
      site.log.commit({ pages: [stays] })
      await site.feed.refresh()
      expect(statusOf(await site.get('/'))).toContain('; hit')
      site.log.commit({ pages: [gone] })
      await site.feed.refresh()
      expect(statusOf(await site.get('/'))).not.toContain('; hit')
    }
  })

  test("has the host's new headers, and the rest of the old ones", async () => {
    const first = { etag: '"v1"', 'x-old': 'old', 'x-new': 'old', date: 'Thu, 01 Jan 2026 00:00:00 GMT' }
    const told = { etag: 'W/"v1"', 'x-new': ['new', 'newer'], 'cache-control': 'max-age=600', 'content-md5': 'x' }
    const { site, overdue } = await overduePage(first, told)
    for (let i = 0; i < 2; i++) {
      const { headers } = await site.get('/')
      expect(headers).toMatchObject({ etag: '"v1"', 'x-old': 'old', 'x-new': 'new, newer' })
      expect([headers['content-md5'], headers.date === first.date]).toEqual([undefined, false])
      expect(headers['cache-control']).toBe('max-age=600')
    }
    await overdue(500_000)
    expect(statusOf(await site.get('/'))).toContain('; hit')
  })

  test('keeps its compressed copies', async () => {
    const pass = clockOf(cleanup)
    const site = await startCachedSite(cleanup, ({ headers }, response) => {
      if (headers['if-none-match']) notModified(response, {})
      else page(response, 'x'.repeat(5_000), { etag: '"v1"', ...minute })
    })
    const coding = async () => (await site.get('/', { 'accept-encoding': 'br' })).headers['content-encoding']
    await eventually(async () => (await coding()) === 'br')
    pass(61_000)
    await site.feed.refresh()
    expect([await coding(), site.asked.length]).toEqual(['br', 2])
  })

  test('keeps its lifetime if the host sends none now', async () => {
    const { site, overdue } = await overduePage({ etag: '"v1"' }, {})
    await site.get('/')
    await overdue()
    expect(statusOf(await site.get('/'))).toContain('fwd-status=304')
  })

  test.each([
    ['private', { 'cache-control': 'private' }],
    ['no-store', { 'cache-control': 'no-store' }],
    ['a cookie', { 'set-cookie': 'a=b' }],
    ['Vary', { vary: 'Cookie' }],
    ['another ETag', { etag: '"v2"' }],
  ])('with %s: is not renewed, and is no longer served', async (_what, told) => {
    const { site } = await overduePage({ etag: '"v1"' }, told)
    const own = await site.get('/')
    expect([own.status, own.body]).toEqual([200, 'page 3'])
    expect(site.cache.stats().entries).toBe(0)
  })

  test('is not served if a purge arrived during the revalidation', async () => {
    const pass = clockOf(cleanup)
    let answer = () => {}
    const site = await startCachedSite(cleanup, ({ headers }, response, count) => {
      if (headers['if-none-match']) answer = () => notModified(response, {})
      else page(response, `page ${count}`, { ...minute, etag: '"v1"' })
    })
    await site.get('/')
    pass(61_000)
    await site.feed.refresh()
    const late = site.get('/')
    await eventually(() => site.asked.length === 2)
    site.log.commit({ pages: ['/'] })
    await site.feed.refresh()
    answer()
    expect((await late).body).toBe('page 3')
    expect((await site.get('/')).body).toBe('page 4')
  })

  test('is revalidated at each use if the host requires it (no-cache, zero lifetime)', async () => {
    for (const control of ['no-cache', 'max-age=0', 'max-age=0, must-revalidate']) {
      const site = await startCachedSite(cleanup, ({ headers }, response, count) => {
        if (headers['if-none-match']) notModified(response, {})
        else page(response, `page ${count}`, { etag: '"v1"', 'cache-control': control })
      })
      for (let visit = 1; visit <= 3; visit++) {
        expect((await site.get('/')).body).toBe('page 1')
        expect([control, site.asked.length]).toEqual([control, visit])
      }
    }
  })
})

test.each(['must-revalidate', 'proxy-revalidate'])(
  '%s: is never served stale, whatever else the headers say, pages and files',
  async (how) => {
    const pass = clockOf(cleanup)
    let isBroken = false
    const control = `max-age=60, ${how}, stale-while-revalidate=600, stale-if-error=600`
    const site = await startCachedSite(cleanup, (request, response) => {
      const make = request.url === '/a.css' ? file : page
      if (isBroken) page(response, 'broken', {}, 503)
      else make(response, 'old', { 'cache-control': control })
    })
    for (const path of ['/', '/a.css']) await site.get(path)
    isBroken = true
    pass(61_000)
    await site.feed.refresh()
    for (const path of ['/', '/a.css']) expect([path, (await site.get(path)).status]).toEqual([path, 503])
  },
)

test("continues the host's Age, and Date says when the page was made", async () => {
  const pass = clockOf(cleanup)
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT'
  const site = await startCachedSite(cleanup, (_request, response, count) =>
    page(response, `page ${count}`, { ...minute, age: '30', date }),
  )
  await site.get('/')
  pass(20_000)
  await site.feed.refresh()
  const { headers } = await site.get('/')
  expect([headers.age, headers.date]).toEqual(['50', date])
  pass(11_000)
  await site.feed.refresh()
  expect((await site.get('/')).body).toBe('page 2')
})

test('does not store an answer that ends with its connection, because it may be incomplete', async () => {
  const site = await startCachedSite(cleanup, (_request, response, count) =>
    response.socket?.end(`HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\npage ${count}`),
  )
  expect((await site.get('/')).body).toBe('page 1')
  expect((await site.get('/')).body).toBe('page 2')
})

test('fetches the addresses that a change names again, on this host only', async () => {
  const site = await startCachedSite(cleanup, (request, response, count) =>
    page(response, `page ${count}`, {
      ...(request.method === 'POST' && { location: request.headers['x-to'] as string, 'content-location': '/b/' }),
    }),
  )
  for (const to of ['../a/?utm_source=x#top', 'http://site.test/a/', 'http://elsewhere.test/a/', 'http://[']) {
    await site.get('/a/')
    await site.get('/b/')
    await site.get('/form/', { 'x-to': to }, 'POST')
    const isNew = async (path: string) => !statusOf(await site.get(path)).includes('hit')
    expect([to, await isNew('/a/'), await isNew('/b/')]).toEqual([to, /site|top/.test(to), true])
  }
})
