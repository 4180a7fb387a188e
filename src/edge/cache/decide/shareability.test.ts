import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createCleanup } from '../../test-support.ts'
import { clockOf, file, page, startCachedSite, statusOf } from '../test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

/** What a browser says; nothing in it could let anybody in. */
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

describe('who says more than browsers say gets an answer of his own', () => {
  const ways = [
    ['a key', { 'x-api-key': 'k' }],
    ['a cookie of a plugin', { cookie: '_ga=1; member=ann' }],
  ] as const

  test.each(ways)('with %s: let in at once, where others are refused', async (_what, own) => {
    for (const status of [401, 403, 302, 500]) {
      const site = await startCachedSite(cleanup, (request, response) =>
        isMember(request) ? page(response, 'come in') : page(response, 'no', { location: '/login/' }, status),
      )
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
      expect((await site.get('/', browser)).status).toBe(status)
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
    }
  })

  test.each(ways)('with %s: a 404 or a redirect that is kept for others is not his', async (_what, own) => {
    for (const status of [404, 410, 301, 308]) {
      const site = await startCachedSite(cleanup, (request, response) =>
        isMember(request) ? page(response, 'come in') : page(response, 'no', { location: '/' }, status),
      )
      // the first to ask, one who finds what is kept, and one who waits for it
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
      expect(statusOf(await site.get('/', browser))).toContain('hit')
      expect((await site.get('/', { ...browser, ...own })).body).toBe('come in')
      const together = [own, own, {}].map((more) => site.get('/new/', { ...browser, ...more }))
      expect((await Promise.all(together)).map((reply) => reply.status)).toEqual([200, 200, status])
    }
  })

  test('a page that is kept is his, too, and nobody is asked for', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'page'))
    const own: Record<string, string> = { ...browser, 'x-api-key': 'k' }
    for (const headers of [browser, own]) expect((await site.get('/', headers)).body).toBe('page')
    expect(site.asked.length).toBe(1)
  })

  test('scripts of other sites: a page without Access-Control-Allow-Origin is asked for with their Origin', async () => {
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

  test('files are the same for everybody, missing ones too', async () => {
    const site = await startCachedSite(cleanup, (_request, response, count) => file(response, `no ${count}`, {}, 404))
    for (const [, own] of ways) expect((await site.get('/a.css', { ...own, origin: 'null' })).body).toBe('no 1')
  })
})

test('an answer that is not kept is made for who gets it, also when he says only what browsers say', async () => {
  const site = await startCachedSite(cleanup, ({ url, headers }, response) => {
    const language = headers['accept-language'] ?? 'en'
    if (url === '/') page(response, '', { location: `/${language}/` }, 302)
    else page(response, `${language} for ${headers['user-agent']}`, { 'set-cookie': 'a=b' })
  })
  expect((await site.get('/', browser)).headers.location).toBe('/de/')
  expect((await site.get('/x/', browser)).body).toBe(`de for ${browser['user-agent']}`)
  expect((await site.get('/', { ...browser, 'accept-language': 'fr' }, 'HEAD')).headers.location).toBe('/fr/')
})

describe('the host is not asked twice for each visit', () => {
  const never = { 'cache-control': 'no-store' }

  test('of an address whose answers are never kept, for as long as it is visited', async () => {
    const passMs = clockOf(cleanup)
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'page', never))
    for (let visit = 0; visit < 20; visit++) {
      await site.get('/', browser)
      passMs(300_000)
      await site.feed.refresh()
    }
    expect(site.asked.length).toBe(21)
  })

  test('of many addresses whose answers are not kept', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'page', never))
    for (let visit = 0; visit < 100; visit++) await site.get(`/${visit}/`, browser)
    expect(site.asked.length).toBeLessThan(110)
  })

  test('of many addresses whose answers are kept, but not for who asks', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'no', {}, 404))
    for (let visit = 0; visit < 100; visit++) await site.get(`/${visit}/`, { 'x-api-key': 'k' })
    expect(site.asked.length).toBeLessThan(110)
    // others have what is kept with their first visit
    await site.get('/new/', browser)
    expect(statusOf(await site.get('/new/', browser))).toContain('hit')
  })

  test('while it fails', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'broken', {}, 500))
    for (let visit = 0; visit < 20; visit++) expect((await site.get('/a/', browser)).status).toBe(500)
    expect(site.asked.length).toBe(20)
    for (let visit = 0; visit < 20; visit++) await site.get('/b/', { 'x-api-key': 'k' })
    expect(site.asked.length).toBe(41)
  })

  test('a site that is doubtful: a crowd makes two requests, and what can be kept is kept from the second on', async () => {
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
    // an address that is known for answers that are not kept: what a visitor is told changes that
    await site.get('/1/', browser)
    await site.get('/1/', browser)
    expect(statusOf(await site.get('/1/', browser))).toContain('hit')
    // and with some more of them the doubt is gone
    for (let visit = 2; visit < 20; visit++) await site.get(`/${visit}/`, browser)
    await site.get('/fresh/', browser)
    expect(statusOf(await site.get('/fresh/', browser))).toContain('hit')
  })
})
