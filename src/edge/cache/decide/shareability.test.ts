import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createCleanup } from '../../test-support.ts'
import { clockOf, file, page, startCachedSite, statusOf } from '../test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

/** The headers of a browser. None of them could grant access. */
const browser = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)',
  accept: 'text/html',
  'accept-language': 'de',
  'sec-fetch-mode': 'navigate',
  'sec-ch-ua': '"x"',
  referer: 'http://elsewhere/',
  cookie: '_ga=1; wordpress_test_cookie=x',
}

const isMember = ({ headers }: IncomingMessage) => Boolean(headers['x-api-key'] ?? headers.cookie?.includes('member='))

describe('gives visitors with unusual headers an answer of their own', () => {
  const ways = [
    ['a key', { 'x-api-key': 'k' }],
    ['a cookie of a plugin', { cookie: '_ga=1; member=ann' }],
  ] as const

  test.each(ways)('with %s: admits the visitor at once, while others are refused', async (_what, own) => {
    for (const status of [401, 403, 302, 500]) {
      const site = await startCachedSite(cleanup, (request, response) =>
        isMember(request) ? page(response, 'come in') : page(response, 'no', { location: '/login/' }, status),
      )
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
      expect((await site.get('/', browser)).status).toBe(status)
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
    }
  })

  test.each(ways)('with %s: does not serve a stored 404 or redirect to this visitor', async (_what, own) => {
    for (const status of [404, 410, 301, 308]) {
      const site = await startCachedSite(cleanup, (request, response) =>
        isMember(request) ? page(response, 'come in') : page(response, 'no', { location: '/' }, status),
      )
      // The first to ask, one who finds a stored answer, and one who waits for it.
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
      expect(statusOf(await site.get('/', browser))).toContain('hit')
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
      const together = [own, own, {}].map((more) => site.get('/new/', { ...browser, ...more }))
      expect((await Promise.all(together)).map((reply) => reply.status)).toEqual([200, 200, status])
    }
  })

  test('serves a stored page to them, too, without asking the host', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'page'))
    const own: Record<string, string> = { ...browser, 'x-api-key': 'k' }
    for (const headers of [browser, own]) expect((await site.get('/', headers)).body).toBe('page')
    expect(site.asked.length).toBe(1)
  })

  test("asks for a page without Access-Control-Allow-Origin with the Origin of the script's site", async () => {
    const site = await startCachedSite(cleanup, ({ url, headers }, response) => {
      const { origin } = headers
      if (url === '/open/') page(response, 'open', { 'access-control-allow-origin': '*' })
      else page(response, 'page', origin ? { 'access-control-allow-origin': origin } : {})
    })
    const headers = { ...browser, origin: 'https://app.test' }
    for (let i = 0; i < 2; i++)
      expect((await site.get('/', headers)).headers['access-control-allow-origin']).toBe('https://app.test')
    expect(statusOf(await site.get('/', browser))).toContain('hit')
    await site.get('/open/')
    expect(statusOf(await site.get('/open/', headers))).toContain('hit')
  })

  test('treats files, and missing files, as the same for everyone', async () => {
    const site = await startCachedSite(cleanup, (_request, response, count) => file(response, `no ${count}`, {}, 404))
    for (const [, own] of ways) expect((await site.get('/a.css', { ...own, origin: 'null' })).body).toBe('no 1')
  })
})

test('makes an uncacheable answer for the visitor who gets it, even if the headers are plain', async () => {
  const site = await startCachedSite(cleanup, ({ url, headers }, response) => {
    const language = headers['accept-language'] ?? 'en'
    if (url === '/') page(response, '', { location: `/${language}/` }, 302)
    else page(response, `${language} for ${headers['user-agent']}`, { 'set-cookie': 'a=b' })
  })
  expect((await site.get('/', browser)).headers.location).toBe('/de/')
  expect((await site.get('/x/', browser)).body).toBe(`de for ${browser['user-agent']}`)
  expect((await site.get('/', { ...browser, 'accept-language': 'fr' }, 'HEAD')).headers.location).toBe('/fr/')
})

describe('does not ask the host twice for each visit', () => {
  const never = { 'cache-control': 'no-store' }

  test('of an address whose answers are never stored, for as long as it is visited', async () => {
    const passMs = clockOf(cleanup)
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'page', never))
    for (let visit = 0; visit < 20; visit++) {
      await site.get('/', browser)
      passMs(300_000)
      await site.feed.refresh()
    }
    expect(site.asked.length).toBe(21)
  })

  test('of many addresses whose answers are not stored', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'page', never))
    for (let visit = 0; visit < 100; visit++) await site.get(`/${visit}/`, browser)
    expect(site.asked.length).toBeLessThan(110)
  })

  test('of many addresses whose answers are stored, but not for this visitor', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'no', {}, 404))
    for (let visit = 0; visit < 100; visit++) await site.get(`/${visit}/`, { 'x-api-key': 'k' })
    expect(site.asked.length).toBeLessThan(110)
    // Others get the stored answer with their first visit.
    await site.get('/new/', browser)
    expect(statusOf(await site.get('/new/', browser))).toContain('hit')
  })

  test('while the host fails', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'broken', {}, 500))
    for (let visit = 0; visit < 20; visit++) expect((await site.get('/a/', browser)).status).toBe(500)
    expect(site.asked.length).toBe(20)
    for (let visit = 0; visit < 20; visit++) await site.get('/b/', { 'x-api-key': 'k' })
    expect(site.asked.length).toBe(41)
  })

  test('makes two requests for a crowd on a doubtful site, and stores what it can from the second on', async () => {
    let isOpen = false
    const site = await startCachedSite(cleanup, (_request, response, count) =>
      setTimeout(() => page(response, `page ${count}`, isOpen ? {} : never), 20),
    )
    for (let visit = 0; visit < 30; visit++) await site.get(`/${visit}/`, browser)
    isOpen = true
    const before = site.asked.length
    const crowd = await Promise.all(Array.from({ length: 50 }, () => site.get('/crowd/', browser)))
    expect([new Set(crowd.map(({ body }) => body)).size, site.asked.length - before]).toEqual([2, 2])
    expect(statusOf(await site.get('/crowd/', browser))).toContain('hit')
    // An address known for uncacheable answers. The answer to a visitor changes that.
    await site.get('/1/', browser)
    await site.get('/1/', browser)
    expect(statusOf(await site.get('/1/', browser))).toContain('hit')
    // A few more shareable answers remove the doubt.
    for (let visit = 2; visit < 20; visit++) await site.get(`/${visit}/`, browser)
    await site.get('/fresh/', browser)
    expect(statusOf(await site.get('/fresh/', browser))).toContain('hit')
  })
})
