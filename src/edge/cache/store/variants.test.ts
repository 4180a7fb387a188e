import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { Budget } from '../../../platform/budgets/budget.ts'
import { createCleanup, eventually } from '../../test-support.ts'
import { bodyTerms } from '../page-cache.ts'
import { type CachedSite, clockOf, file, page, startCachedSite, statusOf } from '../test-support.ts'
import { createDisk } from './disk.ts'
import { createEntry, type Entry } from './entry.ts'
import { createMemory } from './memory.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

/** Answers with the languages and types that a request accepts, and with its number. */
const differing =
  (vary: string, more: Record<string, string> = {}) =>
  ({ headers }: IncomingMessage, response: ServerResponse, count: number) =>
    page(response, `${headers['accept-language']} ${headers.accept} ${count}`, { vary, ...more })

const counted = async (site: CachedSite, path: string, headers: Record<string, string>) =>
  Number((await site.get(path, headers)).body.split(' ').at(-1))

const german = { 'accept-language': 'de', accept: 'text/html' }
const french = { 'accept-language': 'fr', accept: 'text/html' }

describe('a page that varies by headers has several copies', () => {
  test('serves each to visitors with the same values, whatever their other headers', async () => {
    const site = await startCachedSite(cleanup, differing('Accept-Encoding, Accept-Language'))
    const first = await site.get('/', { ...german, 'x-odd': '1' })
    expect([first.body, statusOf(first)]).toEqual(['de */* 2', 'Stead; fwd=vary-miss; stored'])
    expect(site.asked[1]?.headers['x-odd']).toBeUndefined()
    expect((await site.get('/', french)).body).toBe('fr */* 3')
    expect((await site.get('/', {})).body).toBe('undefined */* 4')
    const again = await site.get('/', { ...german, accept: 'image/png' })
    expect([again.body, again.headers.vary, statusOf(again)]).toEqual([
      'de */* 2',
      'Accept-Language',
      expect.stringContaining('hit'),
    ])
    expect((await site.get('/', { 'accept-language': 'DE' })).body).toBe('DE */* 5')
    expect(site.cache.stats()).toMatchObject({ entries: 4, variants: 4 })
  })

  test('by several headers: compares all of them, in one line or more, with and without spaces in lists', async () => {
    const site = await startCachedSite(cleanup, differing('Accept-Language, accept'))
    expect(await counted(site, '/', { ...german, accept: 'image/webp, */*' })).toBe(2)
    expect(await counted(site, '/', { ...german, accept: 'image/webp,*/*' })).toBe(2)
    expect(await counted(site, '/', { ...german, accept: '*/*' })).toBe(3)
    expect(await counted(site, '/', { ...french, accept: '*/*' })).toBe(4)
    expect(site.asked[1]?.headers.accept).toBe('image/webp,*/*')
    expect(site.asked.map(({ headers }) => headers['x-stead-for-all']).slice(0, 2)).toEqual(['1', undefined])
  })

  test('by browser: stores only those of browsers', async () => {
    const site = await startCachedSite(cleanup, ({ headers }, response) =>
      page(response, `for ${headers['user-agent']}`, { vary: 'Accept-Encoding, User-Agent' }),
    )
    for (const name of ['a phone', 'another', 'a phone', 'another'])
      expect((await site.get('/', { 'user-agent': name })).body).toBe(`for ${name}`)
    expect([site.asked.length, site.cache.stats().entries]).toEqual([3, 2])
  })

  test('by cookie: stores one for visitors with no cookies but analytics, and sends others to the host', async () => {
    const site = await startCachedSite(cleanup, ({ headers }, response, count) =>
      page(response, `${headers.cookie ?? 'nobody'} ${count}`, { vary: 'Accept-Encoding, Cookie' }),
    )
    expect((await site.get('/', { cookie: '_ga=1' })).body).toBe('nobody 1')
    expect((await site.get('/', {})).body).toBe('nobody 1')
    for (const cookie of ['theme=dark', 'cmplz_marketing=allow', '_ga=1; a=b']) {
      const own = await site.get('/', { cookie })
      expect([own.body.startsWith(cookie), statusOf(own)]).toEqual([true, expect.stringContaining('fwd=bypass')])
    }
    expect((await site.get('/', {})).headers.vary).toBe('Cookie')
  })

  test('varies files, too: an image by what the browser accepts', async () => {
    const site = await startCachedSite(cleanup, ({ headers }, response, count) =>
      file(response, `${headers.accept} ${count}`, { vary: 'Accept' }),
    )
    expect(await counted(site, '/a.png', { accept: 'image/webp' })).toBe(2)
    expect(await counted(site, '/a.png', { accept: 'image/png' })).toBe(3)
    expect(await counted(site, '/a.png', { accept: 'image/webp' })).toBe(2)
  })

  test('does not share any of them with everyone when the host omits Vary for one visitor', async () => {
    const site = await startCachedSite(cleanup, ({ headers }, response, count) =>
      page(
        response,
        `${headers['accept-language']} ${count}`,
        headers['accept-language'] === 'xx' ? {} : { vary: 'Accept-Language' },
      ),
    )
    expect((await site.get('/', { 'accept-language': 'xx' })).body).toBe('xx 2')
    expect((await site.get('/', german)).body).toBe('de 3')
    expect((await site.get('/', {})).body).toBe('undefined 4')
  })

  test('drops the single copy of a page when it starts to vary', async () => {
    const pass = clockOf(cleanup)
    let vary = 'Accept-Encoding'
    const site = await startCachedSite(cleanup, (request, response, count) => differing(vary)(request, response, count))
    expect(await counted(site, '/', german)).toBe(1)
    vary = 'Accept-Language'
    pass(601_000)
    await site.feed.refresh()
    // The old one once more during the refresh.
    expect(await counted(site, '/', german)).toBe(1)
    await eventually(() => site.cache.stats().originFetches === 0)
    expect(await counted(site, '/', german)).toBe(3)
    expect(await counted(site, '/', french)).toBe(4)
    expect(site.cache.stats().entries).toBe(2)
  })

  test('drops the old copy, too, when its successor belongs to the visitor who fetched it', async () => {
    const pass = clockOf(cleanup)
    let vary = 'Accept-Encoding'
    const lasting = { 'cache-control': 'max-age=60' }
    const site = await startCachedSite(cleanup, (request, response, count) =>
      differing(vary, lasting)(request, response, count),
    )
    expect(await counted(site, '/', {})).toBe(1)
    vary = 'Accept-Language'
    pass(61_000)
    await site.feed.refresh()
    expect(await counted(site, '/', {})).toBe(2)
    expect(await counted(site, '/', german)).toBe(3)
    expect(await counted(site, '/', {})).toBe(2)
  })

  test.each(['Cookie', 'Accept-Language'])(
    'drops a copy when the host says that it varies by %s from now on',
    async (vary) => {
      const pass = clockOf(cleanup)
      const site = await startCachedSite(cleanup, (request, response, count) => {
        if (request.headers['if-none-match'] === '"1"')
          response.writeHead(304, { vary, 'x-stead-renderer': 'php' }).end()
        else page(response, `page ${count}`, { etag: '"1"', 'cache-control': 'max-age=60', ...(count > 1 && { vary }) })
      })
      await site.get('/')
      pass(61_000)
      await site.feed.refresh()
      expect((await site.get('/', { 'accept-language': 'de', cookie: '_ga=b' })).body).toBe('page 3')
      expect((await site.get('/', { 'accept-language': 'fr', cookie: 'c=d' })).body).not.toBe('page 1')
    },
  )

  test('by more and more headers: serves it to visitors who match in all of them', async () => {
    const site = await startCachedSite(cleanup, ({ headers }, response, count) =>
      page(response, `${headers['x-b']} ${count}`, { vary: headers['x-a'] ? 'X-A, X-B' : 'X-A' }),
    )
    const own = await site.get('/', { 'x-a': '1', 'x-b': '2' })
    expect(own.body).toMatch(/^2 /)
    const before = site.asked.length
    expect((await site.get('/', { 'x-a': '1', 'x-b': '2' })).body).toMatch(/^2 /)
    expect((await site.get('/', { 'x-a': '1', 'x-b': '3' })).body).toMatch(/^3 /)
    expect(site.asked.length).toBeLessThanOrEqual(before + 2)
  })

  test.each([
    ['anything', '*'],
    ['five headers', 'X-A, X-B, X-C, X-D, X-E'],
    ['the visitor’s address', 'X-Forwarded-For'],
    ['a condition', 'If-None-Match'],
    ['what a proxy says of itself', 'Forwarded'],
  ])('stores none that varies by %s', async (_what, vary) => {
    const site = await startCachedSite(cleanup, differing(vary))
    for (const count of [2, 3]) expect(await counted(site, '/', german)).toBe(count)
    expect(site.cache.stats().entries).toBe(0)
  })

  test('stores none for scripts of other sites, as the REST API always varies, unless the site sets a lifetime', async () => {
    const more: Record<string, string> = {}
    const site = await startCachedSite(cleanup, ({ headers }, response, count) =>
      page(response, `${headers.origin} ${count}`, { vary: 'Origin', ...more }),
    )
    for (const count of [2, 3])
      expect((await site.get('/a', { origin: 'https://a.test' })).body).toBe(`https://a.test ${count}`)
    more['cache-control'] = 'max-age=60'
    for (const _ of [1, 2]) expect((await site.get('/b', { origin: 'https://a.test' })).body).toBe('https://a.test 5')
    expect((await site.get('/b', { origin: 'https://b.test' })).body).toBe('https://b.test 6')
    expect((await site.get('/b')).body).toBe('undefined 7')
    expect((await site.get('/c')).body).toBe('undefined 8')
    expect((await site.get('/c')).body).toBe('undefined 8')
  })
})

describe('many copies', () => {
  test('invented headers evict each other, not what others use', async () => {
    const site = await startCachedSite(cleanup, differing('Accept-Language'))
    const kept = await counted(site, '/', german)
    expect(await counted(site, '/', german)).toBe(kept)
    for (let n = 0; n < 60; n++) await site.get('/', { 'accept-language': `x${n}` })
    expect(await counted(site, '/', german)).toBe(kept)
    expect(site.cache.stats()).toMatchObject({ entries: 16, variants: 16 })
  })

  test('of one address take a bounded part of the memory, and values that are too long take none', async () => {
    const site = await startCachedSite(
      cleanup,
      ({ headers }, response) =>
        page(response, `${headers['accept-language']}`.padEnd(10_000), { vary: 'Accept-Language' }),
      { cache: { memoryBytes: 400_000, mostBodyBytes: 50_000 } },
    )
    for (let n = 0; n < 12; n++)
      for (const _ of [1, 2]) expect((await site.get('/', { 'accept-language': `x${n}` })).body.trim()).toBe(`x${n}`)
    expect(site.cache.stats().bytes).toBeLessThanOrEqual(50_000)
    expect(site.cache.stats().variants).toBeGreaterThan(1)
    const before = site.asked.length
    const long = { 'accept-language': 'x'.repeat(1_025) }
    for (const _ of [1, 2]) expect(statusOf(await site.get('/', long))).toContain('detail=long-headers')
    expect(site.asked.length).toBe(before + 2)
  })

  test('a crowd makes one request for each variant, and one that is not used', async () => {
    const site = await startCachedSite(cleanup, (request, response, count) =>
      setTimeout(() => differing('Accept-Language')(request, response, count), 20),
    )
    const crowd = await Promise.all(Array.from({ length: 60 }, (_, n) => site.get('/', n % 2 === 0 ? german : french)))
    expect(new Set(crowd.map(({ body }) => body)).size).toBe(2)
    expect(crowd.every(({ body }, n) => body.startsWith(n % 2 === 0 ? 'de ' : 'fr '))).toBe(true)
    expect(site.asked.length).toBe(3)
  })

  test('does not ask the host twice for each visit of a site whose pages all vary', async () => {
    const site = await startCachedSite(cleanup, differing('User-Agent'))
    for (let n = 0; n < 60; n++) await site.get(`/${n}/`, { 'user-agent': 'Mozilla/5.0' })
    expect(site.asked.length).toBeLessThan(75)
    const before = site.asked.length
    for (let n = 40; n < 60; n++) await site.get(`/${n}/`, { 'user-agent': 'Mozilla/5.0' })
    expect(site.asked.length).toBe(before + 20)
    for (let n = 40; n < 60; n++) await site.get(`/${n}/`, { 'user-agent': 'Mozilla/5.0' })
    expect(site.asked.length).toBe(before + 20)
  })
})

describe('purges and refreshes a copy like a page', () => {
  const two = async () => {
    const site = await startCachedSite(cleanup, differing('Accept-Language', { etag: '"1"' }))
    expect([await counted(site, '/a/', german), await counted(site, '/a/', french)]).toEqual([2, 3])
    return site
  }

  test.each([
    ['by its path', ['/a/']],
    ['with all', 'all'],
  ] as const)('drops all copies %s', async (_how, pages) => {
    const site = await two()
    site.log.commit({ pages })
    await site.feed.refresh()
    expect([await counted(site, '/a/', german), await counted(site, '/a/', french)]).toEqual([4, 5])
  })

  test('drops all copies when the address is written to, including those in transit', async () => {
    const site = await two()
    await site.get('/a/', german, 'POST')
    expect([await counted(site, '/a/', german), await counted(site, '/a/', french)]).toEqual([5, 6])
  })

  test('does not store a copy that was purged while the host worked on it', async () => {
    let answer = () => {}
    const site = await startCachedSite(cleanup, (request, response, count) => {
      answer = () => differing('Accept-Language')(request, response, count)
      if (count !== 2) answer()
    })
    const early = site.get('/a/', german)
    await eventually(() => site.asked.length === 2)
    site.log.commit({ pages: ['/a/'] })
    await site.feed.refresh()
    answer()
    expect((await early).body).toBe('de */* 2')
    expect(await counted(site, '/a/', german)).toBe(3)
  })

  test('serves the stale one to its own visitors while it is revalidated with their headers', async () => {
    const pass = clockOf(cleanup)
    const site = await startCachedSite(cleanup, (request, response, count) => {
      if (request.headers['if-none-match'] === '"de"') response.writeHead(304, { etag: '"de"' }).end()
      else differing('Accept-Language', { etag: `"${request.headers['accept-language']}"` })(request, response, count)
    })
    await site.get('/', german)
    await site.get('/', french)
    pass(601_000)
    await site.feed.refresh()
    expect(statusOf(await site.get('/', german))).toContain('stale')
    await eventually(() => site.cache.stats().originFetches === 0)
    expect(site.asked.at(-1)?.headers).toMatchObject({ 'accept-language': 'de', 'if-none-match': '"de"' })
    const renewed = await site.get('/', german)
    expect([renewed.body, renewed.headers.age, renewed.headers.vary]).toEqual(['de */* 2', '0', 'Accept-Language'])
    expect(statusOf(await site.get('/', french))).toContain('stale')
  })
})

/** A variant of an address as it would be stored. */
const copy = (name: string, hits = 1): Entry =>
  Object.assign(
    createEntry({
      key: `copy ${name}`,
      variantOf: 'http://site.test/',
      path: '/',
      siteId: 7,
      tier: 'page',
      epoch: 1,
      status: 200,
      reason: 'OK',
      headers: [],
      renderer: 'php',
      body: Buffer.alloc(10_000),
      lifetime: { ageMs: 0, freshMs: 1, staleMs: 0, staleIfErrorMs: 0 },
      nowMs: 0,
    }),
    { hits },
  )

test('drops the least recently used of many used copies', () => {
  const memory = createMemory(8 << 20)
  const all = Array.from({ length: 16 }, (_, n) => copy(String(n)))
  for (const each of all) memory.put(each)
  memory.touch(all[0] as Entry)
  memory.put(copy('new', 0))
  expect(all.filter(({ key }) => !memory.get(key))).toEqual([all[1]])
})

test('moves copies to disk and back, as many as memory may have, and drops them with their address', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stead-copies-'))
  cleanup.add(() => rm(folder, { recursive: true }))
  const onDisk = new Budget(bodyTerms(8 << 20))
  const disk = await createDisk({ folder, mostBytes: 8 << 20, mostIndexBytes: 1 << 20, bodies: onDisk })
  cleanup.add(() => disk.close())
  const all = Array.from({ length: 20 }, (_, n) => copy(String(n)))
  for (const each of all) disk.keep(each)
  expect([disk.count, disk.has('copy 3'), disk.has('copy 4')]).toEqual([16, false, true])
  expect(await disk.take('copy 4')).toMatchObject({ key: 'copy 4', variantOf: 'http://site.test/' })
  disk.forgetAddress('http://site.test/')
  expect([disk.count, disk.bytes]).toEqual([0, 0])
})

test("finds a copy that did not fit in memory on disk, by its visitor's headers", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stead-copies-'))
  cleanup.add(() => rm(folder, { recursive: true }))
  const onDisk = new Budget(bodyTerms(8 << 20))
  const disk = await createDisk({ folder, mostBytes: 8 << 20, mostIndexBytes: 1 << 20, bodies: onDisk })
  const site = await startCachedSite(
    cleanup,
    ({ headers }, response, count) =>
      page(
        response,
        `${headers['accept-language']} ${count}`.padEnd(30_000),
        headers['accept-language'] ? { vary: 'Accept-Language' } : {},
      ),
    { cache: { memoryBytes: 400_000, mostBodyBytes: 50_000, disk } },
  )
  const get = async (language: string) => (await site.get('/', { 'accept-language': language })).body.trim()
  const first = await get('de')
  expect(await get('de')).toBe(first)
  for (let n = 0; n < 12; n++) for (const _ of [1, 2]) await site.get(`/p${n}/`)
  expect(site.cache.stats()).toMatchObject({ variants: 0 })
  const asked = site.asked.length
  expect([await get('de'), site.asked.length]).toEqual([first, asked])
})
