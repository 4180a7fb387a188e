import { afterEach, describe, expect, test } from 'vitest'
import { Budget } from '../../platform/budgets/budget.ts'
import { createCleanup, eventually, rawConnect, rawRequest } from '../test-support.ts'
import { bodyTerms } from './page-cache.ts'
import { file, page, startCachedSite, statusOf } from './test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const counted = () => startCachedSite(cleanup, (_request, response, count) => page(response, `page ${count}`))

describe('a page of PHP', () => {
  test('comes from the host once, then from the cache, with age, status, and validator', async () => {
    const site = await counted()
    const first = await site.get('/about/')
    expect([first.body, statusOf(first)]).toEqual(['page 1', 'Stead; fwd=uri-miss; stored'])
    const second = await site.get('/about/')
    expect([second.status, second.body, second.headers.age]).toEqual([200, 'page 1', '0'])
    expect(statusOf(second)).toMatch(/^Stead; hit; ttl=(?:600|599)$/)
    expect(second.headers.etag).toMatch(/^"[\w-]+"$/)
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id'])
    expect(JSON.stringify(second.raw)).not.toMatch(/x-stead/i)
    expect(site.asked.length).toBe(1)
  })

  test('answers HEAD from a GET, 304 for a current copy, 206 for a part, and 416 for a range past the end', async () => {
    const site = await counted()
    const head = await site.get('/', {}, 'HEAD')
    expect([head.status, head.body, head.headers['content-length']]).toEqual([200, '', '6'])
    expect(site.asked[0]?.method).toBe('GET')
    const etag = head.headers.etag as string
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const same = await site.get('/', { 'if-none-match': tag })
      expect([tag, same.status, same.body, same.headers.etag]).toEqual([tag, 304, '', etag])
      expect(same.headers['content-type']).toBeUndefined()
    }
    expect((await site.get('/', { 'if-none-match': '"other"' })).status).toBe(200)
    const part = await site.get('/', { range: 'bytes=0-3' })
    expect([part.status, part.body, part.headers['content-range']]).toEqual([206, 'page', 'bytes 0-3/6'])
    expect((await site.get('/', { range: 'bytes=-1' })).body).toBe('1')
    expect((await site.get('/', { range: 'bytes=9-' })).status).toBe(416)
    expect((await site.get('/', { range: 'bytes=0-1', 'if-range': '"other"' })).body).toBe('page 1')
    expect((await site.get('/', { range: 'bytes=0-1', 'if-range': etag })).body).toBe('pa')
    expect((await site.get('/', { range: 'bytes=0-0,2-3' })).status).toBe(200)
    expect(site.asked.length).toBe(1)
  })

  test('is stored once for all campaign links, whose parameters do not reach the host', async () => {
    const site = await counted()
    await site.get('/?utm_source=mail&b=2&fbclid=x&a=1&gclid=')
    expect(site.asked[0]?.url).toBe('/?b=2&a=1')
    expect((await site.get('/?b=2&a=1&utm_campaign=y')).body).toBe('page 1')
    expect((await site.get('/?a=1&b=2')).body).toBe('page 2')
    expect((await site.get('/?utm_source=a')).body).toBe('page 3')
    expect((await site.get('/')).body).toBe('page 3')
  })

  test('that must not be stored is made for its visitor, with campaign parameters', async () => {
    const site = await startCachedSite(cleanup, ({ url }, response) =>
      page(response, url as string, { 'cache-control': 'no-store' }),
    )
    for (const path of ['/form/?utm_source=mail&a=1', '/form/?a=1&gclid=2', '/form/?a=1'])
      expect((await site.get(path)).body).toBe(path)
    // The first request for an address fetches the page for everyone.
    expect(site.asked[0]?.url).toBe('/form/?a=1')
  })

  test('is requested without cookies, conditions, ranges, and unusual headers', async () => {
    const site = await counted()
    await site.get('/', {
      cookie: '_ga=1',
      'accept-encoding': 'br',
      'x-poison': '1',
      referer: 'http://elsewhere/',
      'user-agent': 'A',
      accept: 'image/webp',
      'accept-language': 'xx',
      'x-original-url': '/other',
      'if-none-match': '"x"',
      'x-stead-site': '9',
    })
    const names = Object.keys(site.asked[0]?.headers ?? {}).filter((name) => name !== 'connection')
    expect(names.sort()).toEqual(
      [
        'accept',
        'host',
        'user-agent',
        'x-forwarded-for',
        'x-forwarded-host',
        'x-forwarded-proto',
        'x-request-id',
        'x-stead-for-all',
        'x-stead-key',
        'x-stead-peer',
        'x-stead-site',
      ].sort(),
    )
    expect(site.asked[0]?.headers).toMatchObject({
      'x-stead-site': '7',
      'user-agent': 'Mozilla/5.0 (compatible; Stead)',
      accept: '*/*',
    })
  })

  test.each([
    ['log-in', { cookie: 'a=b; wordpress_logged_in_abc=admin' }],
    ['comment author', { cookie: 'comment_author_abc=Ann' }],
    ['post password', { cookie: 'wp-postpass_abc=x' }],
    ['cart', { cookie: 'woocommerce_items_in_cart=1' }],
    ['share link of a shop', { cookie: 'woo-share=abc' }],
    ['message of a network', { cookie: 'a=b; bp_new_group_id=1' }],
    ['PHP session', { cookie: 'PHPSESSID=1' }],
    ['credentials', { authorization: 'Basic eDp5' }],
    ['method override', { 'x-http-method-override': 'DELETE' }],
  ])('is never shared with a visitor with %s', async (_what, headers) => {
    const site = await counted()
    await site.get('/')
    const own = await site.get('/', headers)
    expect([own.body, statusOf(own).startsWith('Stead; fwd=')]).toEqual(['page 2', true])
    expect(site.asked[1]?.headers).toMatchObject(headers)
    expect(site.asked[1]?.headers['x-stead-for-all']).toBeUndefined()
    expect((await site.get('/')).body).toBe('page 1')
  })

  test.each([
    ['a cookie', { 'set-cookie': 'a=b' }],
    ['no-store', { 'cache-control': 'no-store' }],
    ['private', { 'cache-control': 'private, max-age=60' }],
    ['no-cache', { 'cache-control': 'no-cache, must-revalidate, max-age=0' }],
    ['max-age=0', { 'cache-control': 'max-age=0' }],
    ['Vary by anything', { vary: '*' }],
    ['a coding of its own', { 'content-encoding': 'x-own' }],
    ['an expiry in the past', { expires: 'Wed, 11 Jan 1984 05:00:00 GMT' }],
    ['DONOTCACHEPAGE', { 'x-stead-cache': 'private' }],
  ])('is never stored with %s', async (_what, headers) => {
    const site = await startCachedSite(cleanup, (_request, response, count) => page(response, `page ${count}`, headers))
    // Requested for everyone once, then for each visitor.
    expect((await site.get('/')).body).toBe('page 2')
    expect((await site.get('/')).body).toBe('page 3')
    expect((await site.get('/')).headers['x-stead-cache']).toBeUndefined()
  })

  test("is requested with its visitor's cookies if it cannot be stored", async () => {
    const site = await startCachedSite(cleanup, (request, response) =>
      page(response, `for ${request.headers.cookie ?? 'nobody'}`, { 'cache-control': 'private' }),
    )
    expect((await site.get('/', { cookie: 'theme=dark' })).body).toBe('for theme=dark')
    expect((await site.get('/', { cookie: 'theme=light' })).body).toBe('for theme=light')
  })

  test('passes private addresses to the host unchanged', async () => {
    const site = await counted()
    for (const path of [
      '/wp-admin/',
      '/wp-login.php',
      '/?preview=true',
      '/sub/wp-login.php?action=x',
      '/?wc-ajax=get',
    ]) {
      await site.get(path)
      expect([path, statusOf(await site.get(path))]).toEqual([path, 'Stead; fwd=bypass; detail=private-address'])
    }
    expect(site.asked.length).toBe(10)
  })

  test('requests a link with a key only once, because it may work only once', async () => {
    const site = await startCachedSite(cleanup, (_request, response, count) =>
      page(response, `page ${count}`, { 'cache-control': 'no-store' }),
    )
    const links = [
      '/?download_file=28&order=wc_order_x1&uid=a&key=b',
      '/newsletter/?unsubscribe=1',
      '/?_my_nonce=1a2b3c',
      '/confirm/?link-token=1',
      '/?data=7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1f',
    ]
    for (const [n, link] of links.entries()) expect((await site.get(link)).body).toBe(`page ${n + 1}`)
    expect(site.asked.length).toBe(links.length)
  })

  test('stores pages whose parameters only look similar', async () => {
    const site = await counted()
    for (const path of [
      '/?keyword=tea',
      '/?s=tokens-and-keys-of-1900',
      '/?hashtag=x&gclid=7f83b1657ff1fc53b92dc18148',
    ]) {
      const { body } = await site.get(path)
      expect((await site.get(path)).body).toBe(body)
    }
  })

  test('keeps a 404 for a moment only, and a 500 never', async () => {
    const site = await startCachedSite(cleanup, (request, response, count) =>
      page(response, `page ${count}`, {}, request.url === '/gone' ? 404 : 500),
    )
    expect(statusOf(await site.get('/gone'))).toContain('stored')
    const second = await site.get('/gone')
    expect([second.status, second.body]).toEqual([404, 'page 1'])
    expect(Number(/ttl=(\d+)/.exec(statusOf(second))?.[1])).toBeLessThanOrEqual(30)
    expect((await site.get('/broken')).body).toBe('page 2')
    expect((await site.get('/broken')).body).toBe('page 3')
  })

  test('is dropped when a request writes to its address', async () => {
    const site = await counted()
    await site.get('/contact/')
    expect((await site.get('/contact/', {}, 'POST')).body).toBe('page 2')
    expect((await site.get('/contact/')).body).toBe('page 3')
  })

  test("passes through when the site's edge cache is off", async () => {
    const site = await counted()
    await site.get('/')
    site.route = { ...site.route, hasEdgeCache: false }
    expect((await site.get('/')).body).toBe('page 2')
    site.route = { ...site.route, hasEdgeCache: true, hasCdn: false }
    expect((await site.get('/')).body).toBe('page 1')
  })

  test('of the previous site is not shown when a host name moves to another site', async () => {
    const site = await counted()
    await site.get('/')
    site.route = { ...site.route, siteId: 8 }
    expect((await site.get('/')).body).toBe('page 2')
  })

  test('passes a body that is too large through completely', async () => {
    const large = 'x'.repeat(300_000)
    const site = await startCachedSite(cleanup, (_request, response, count) => page(response, large + count), {
      cache: { mostBodyBytes: 100_000 },
    })
    expect((await site.get('/')).body).toBe(`${large}1`)
    expect((await site.get('/')).body).toBe(`${large}2`)
    expect(site.cache.stats().entries).toBe(0)
  })

  test('keeps memory within its bound, and drops the least used pages first', async () => {
    const site = await startCachedSite(cleanup, (_request, response) => page(response, 'x'.repeat(10_000)), {
      cache: { memoryBytes: 100_000, mostBodyBytes: 50_000 },
    })
    for (let i = 0; i < 30; i++) {
      await site.get(`/p${i}`)
      expect(statusOf(await site.get('/p0'))).toContain('hit')
    }
    expect(site.cache.stats().bytes).toBeLessThanOrEqual(100_000)
    expect(site.cache.stats().entries).toBeGreaterThan(4)
  })
})

test('has the same prepared head as the one that Node would write', async () => {
  const site = await startCachedSite(cleanup, (_request, response) =>
    page(response, 'the page', { 'x-own': 'ä', link: ['<a>; rel=a', '<b>; rel=b'] }),
  )
  const line = (version: string, connection: string) =>
    `GET / HTTP/${version}\r\nHost: site.test\r\nConnection: ${connection}\r\n\r\n`
  await rawRequest(site.port, cleanup, line('1.1', 'close'))
  const connection = await rawConnect(site.port, cleanup)
  connection.socket.write(line('1.1', 'keep-alive'))
  const ready = await connection.until((text) => text.endsWith('the page'))
  const built = await rawRequest(site.port, cleanup, line('1.1', 'close'))
  const plain = (text: string) =>
    text
      .replace(/(X-Request-Id|Date|Age): [^\r]*/g, '$1: …')
      .replace(/ttl=\d+/, 'ttl=…')
      .replace(/Connection: keep-alive\r\nKeep-Alive: timeout=65|Connection: close/, 'Connection: …')
      .split('\r\n')
      .sort()
  expect(ready).toContain('Keep-Alive: timeout=65')
  expect(plain(ready)).toEqual(plain(built))
  // The next request on the same connection, and two at a time.
  connection.socket.write(line('1.1', 'keep-alive') + line('1.1', 'keep-alive'))
  await connection.until((text) => text.split('the page').length === 4)
  expect(new Set(connection.text().match(/X-Request-Id: [^\r]+/g)).size).toBe(3)
})

describe('a file (CDN)', () => {
  test('comes from the cache for everyone, even with a login cookie', async () => {
    const site = await startCachedSite(cleanup, (_request, response, count) => file(response, `a{b:${count}}`))
    const cookie = { cookie: 'wordpress_logged_in_x=1' }
    expect((await site.get('/a.css?ver=1', cookie)).body).toBe('a{b:1}')
    expect(site.asked[0]?.headers.cookie).toBeUndefined()
    const second = await site.get('/a.css?ver=1', cookie)
    expect([second.body, second.headers['cache-control']]).toEqual(['a{b:1}', 'public, max-age=86400'])
    expect((await site.get('/a.css?ver=2')).body).toBe('a{b:2}')
  })

  test('a page behind an address like a file is not shown to others', async () => {
    const site = await startCachedSite(cleanup, (request, response) =>
      page(response, `for ${request.headers.cookie ?? 'nobody'}`),
    )
    const cookie = { cookie: 'wordpress_logged_in_x=1' }
    expect((await site.get('/members.pdf', cookie)).body).toBe('for wordpress_logged_in_x=1')
    expect((await site.get('/members.pdf')).body).toBe('for nobody')
    expect((await site.get('/members.pdf', cookie)).body).toBe('for wordpress_logged_in_x=1')
  })

  test('passes through when the CDN is off', async () => {
    const site = await startCachedSite(cleanup, (_request, response, count) => file(response, `a{b:${count}}`), {
      route: { hasCdn: false },
    })
    expect((await site.get('/a.css')).body).toBe('a{b:1}')
    expect((await site.get('/a.css')).body).toBe('a{b:2}')
  })

  test('passes a range of a large file that is not stored to the host unchanged', async () => {
    const site = await startCachedSite(cleanup, (request, response) =>
      file(response, String(request.headers.range ?? 'whole'), {}, 206),
    )
    expect((await site.get('/film.mp4', { range: 'bytes=5-9' })).body).toBe('bytes=5-9')
  })
})

test('comes back from disk if memory had no room for it, and is purged like others', async () => {
  const { createDisk } = await import('./store/disk.ts')
  const { mkdtemp, readdir, rm } = await import('node:fs/promises')
  const { tmpdir } = await import('node:os')
  const { join } = await import('node:path')
  const folder = await mkdtemp(join(tmpdir(), 'stead-cache-'))
  cleanup.add(() => rm(folder, { recursive: true }))
  const [bodies, onDisk] = [new Budget(bodyTerms(1 << 20)), new Budget(bodyTerms(1 << 20))]
  const disk = await createDisk({ folder, mostBytes: 1 << 20, mostIndexBytes: 1 << 20, bodies: onDisk })
  const site = await startCachedSite(
    cleanup,
    (_request, response, count) => page(response, `${count} ${'x'.repeat(30_000)}`),
    {
      cache: { memoryBytes: 110_000, mostBodyBytes: 50_000, bodies, disk },
    },
  )
  for (let i = 0; i < 6; i++) {
    await site.get(`/p${i}/`)
    await site.get(`/p${i}/`)
  }
  expect(site.cache.stats().diskEntries).toBe(3)
  const back = await site.get('/p0/')
  expect([back.body.slice(0, 2), statusOf(back)]).toEqual(['1 ', expect.stringContaining('hit')])
  site.log.commit({ pages: ['/p1/'] })
  await site.feed.refresh()
  expect((await site.get('/p1/')).body.slice(0, 2)).toBe('7 ')
  site.log.commit({ pages: 'all' })
  await site.feed.refresh()
  expect((await site.get('/p2/')).body.slice(0, 2)).toBe('8 ')
  await site.cache.close()
  await eventually(async () => (await readdir(folder)).length === 0)
})
