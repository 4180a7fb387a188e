import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { anyNumber, type InFlightLimiter } from '../../gateway/in-flight.ts'
import { createCleanup, eventually, rawConnect } from '../../test-support.ts'
import { clockOf, page, type Script, startCachedSite, statusOf } from '../test-support.ts'
import { differenceOf } from './answer-difference.ts'
import { createKnownCookies } from './known-cookies.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const cookieOf = (request: IncomingMessage): string => request.headers.cookie ?? ''
const rows = (text: string) => `<html>\n<p>${text}</p>\n${'<li>row</li>\n'.repeat(20)}</html>`

/** Shows a shop to visitors with its link, and "opening soon" to others. */
const shop: Script = (request, response) =>
  page(response, rows(/member=ann/.test(cookieOf(request)) ? 'the shop' : 'opens soon'))

type Site = Awaited<ReturnType<typeof startCachedSite>>

const counts = (site: Site, cookie: string) =>
  eventually(async () => statusOf(await site.get('/', { cookie })).includes('detail=cookie'))
const isHit = async (site: Site, cookie: string, path = '/') =>
  statusOf(await site.get(path, { cookie })).includes('hit')

describe('an unknown cookie', () => {
  test('gets its own answer from the first visit, whether a page is stored or not', async () => {
    for (const isStored of [false, true]) {
      const site = await startCachedSite(cleanup, shop)
      if (isStored) await site.get('/')
      for (let visit = 0; visit < 6; visit++) {
        expect((await site.get('/', { cookie: '_ga=1; member=ann' })).body).toContain('the shop')
        expect((await site.get('/')).body).toContain('opens soon')
      }
      await counts(site, 'member=ann')
      expect(await isHit(site, '')).toBe(true)
    }
  })

  test('costs one request if it changes nothing, and none if it is an analytics cookie', async () => {
    const site = await startCachedSite(cleanup, shop)
    await site.get('/')
    expect(await isHit(site, '_ga=1; _fbp=2; wordpress_test_cookie=x')).toBe(true)
    expect(site.asked.length).toBe(1)
    expect(statusOf(await site.get('/', { cookie: 'theme=dark' }))).toContain('detail=new-cookie')
    expect([await isHit(site, 'theme=dark'), site.asked.length]).toEqual([true, 2])
  })

  test('is compared again after a while, and after a purge of all pages', async () => {
    const pass = clockOf(cleanup)
    let isRead = false
    const site = await startCachedSite(cleanup, (request, response) =>
      page(response, rows(isRead && /theme=dark/.test(cookieOf(request)) ? 'dark' : 'light')),
    )
    await site.get('/')
    await site.get('/', { cookie: 'theme=dark' })
    expect(await isHit(site, 'theme=dark')).toBe(true)
    pass(31_000)
    await site.feed.refresh()
    expect([await isHit(site, 'theme=dark'), await isHit(site, 'theme=dark')]).toEqual([false, true])
    isRead = true
    site.log.commit({ pages: 'all' })
    await site.feed.refresh()
    await site.get('/')
    expect((await site.get('/', { cookie: 'theme=dark' })).body).toContain('dark')
    await counts(site, 'theme=dark')
  })

  test('only those that change the answer count, even if only two together do', async () => {
    const site = await startCachedSite(cleanup, (request, response) => {
      const cookie = cookieOf(request)
      page(response, rows(/id=7/.test(cookie) && /sign=x/.test(cookie) ? 'let in' : 'opens soon'))
    })
    await site.get('/')
    await site.get('/', { cookie: 'theme=dark; id=7; sign=x' })
    await counts(site, 'id=1')
    await counts(site, 'sign=1')
    await site.get('/', { cookie: 'theme=dark' })
    expect(await isHit(site, 'theme=dark')).toBe(true)
  })

  test('is not blamed for the noise of a page, and noise hides no difference', async () => {
    const site = await startCachedSite(cleanup, (request, response, count) =>
      page(
        response,
        `${rows(/member/.test(cookieOf(request)) ? 'hello Ann' : 'hello')}<!-- made as number ${count} -->`,
      ),
    )
    await site.get('/')
    await site.get('/', { cookie: 'theme=dark' })
    await eventually(() => isHit(site, 'theme=dark'))
    await site.get('/', { cookie: 'member=ann' })
    await counts(site, 'member=ann')
    expect(await isHit(site, 'theme=dark')).toBe(true)
  })

  test('counts on a page that was changed behind the edge, once that page is stored', async () => {
    const pass = clockOf(cleanup)
    let isClosed = false
    const site = await startCachedSite(cleanup, (request, response, count) => {
      if (isClosed) shop(request, response, count)
      else page(response, '<p>before</p>'.repeat(100))
    })
    await site.get('/')
    isClosed = true
    await site.get('/', { cookie: 'member=ann' })
    await eventually(() => isHit(site, 'member=ann'))
    site.log.commit({ pages: ['/'] })
    await site.feed.refresh()
    await site.get('/')
    expect((await site.get('/', { cookie: 'member=ann; new=1' })).body).toContain('the shop')
    await eventually(async () => {
      // Clients that have used up their learning visits get new ones.
      pass(31_000)
      await site.feed.refresh()
      return statusOf(await site.get('/', { cookie: 'member=ann' })).includes('detail=cookie')
    })
  })

  test('counts when the answer is for one visitor, and not when a firewall refuses its value', async () => {
    const site = await startCachedSite(cleanup, (request, response) => {
      const cookie = cookieOf(request)
      if (/<script>/.test(cookie)) page(response, 'refused', {}, 403)
      else page(response, rows('page'), /lang=/.test(cookie) ? { 'set-cookie': 'lang=de' } : {})
    })
    await site.get('/')
    await site.get('/', { cookie: 'lang=de' })
    await counts(site, 'lang=de')
    const asked = site.asked.length
    await site.get('/', { cookie: 'theme=<script>' })
    await eventually(() => site.asked.length === asked + 2)
    await site.get('/', { cookie: 'theme=dark' })
    expect(await isHit(site, 'theme=dark')).toBe(true)
  })

  test('a visitor who leaves ends the comparison, and the next one starts', async () => {
    let answers: (() => void)[] = []
    const site = await startCachedSite(cleanup, (request, response) => {
      if (/leaves/.test(cookieOf(request))) answers.push(() => shop(request, response, 0))
      else shop(request, response, 0)
    })
    await site.get('/')
    const { socket } = await rawConnect(site.port, cleanup)
    socket.write('GET / HTTP/1.1\r\nHost: site.test\r\nCookie: leaves=1\r\n\r\n')
    await eventually(() => answers.length === 1)
    socket.destroy()
    answers = []
    await site.get('/', { cookie: 'member=ann' })
    await counts(site, 'member=ann')
  })
})

test('a visit for which the site is too busy ends the comparison, and the next one starts', async () => {
  let isBusy = false
  const inFlight: InFlightLimiter = { begin: (siteId, visit) => (isBusy ? undefined : anyNumber.begin(siteId, visit)) }
  const site = await startCachedSite(cleanup, shop, { inFlight })
  await site.get('/')
  isBusy = true
  expect((await site.get('/', { cookie: 'member=ann' })).status).toBe(503)
  isBusy = false
  await site.get('/', { cookie: 'member=ann' })
  await counts(site, 'member=ann')
})

describe('invented cookies', () => {
  /** Echoes all cookies that it gets. */
  const reflecting: Script = (request, response) => page(response, rows(cookieOf(request)))

  test('from one client reach the host a few times, and others keep using the cache', async () => {
    const site = await startCachedSite(cleanup, reflecting)
    await site.get('/')
    let hits = 0
    for (let n = 0; n < 100; n++) if (await isHit(site, `invented${n}=1`)) hits++
    expect(hits).toBeGreaterThan(85)
    expect(await isHit(site, '_ga=1')).toBe(true)
  })

  test("from one client use up that client's visits to the host, and from many clients those of the site", () => {
    const pass = clockOf(cleanup)
    const known = createKnownCookies()
    const allowed = (client: string, visits: number) =>
      Array.from({ length: visits }, () => known.allow({ siteId: 1, path: '/', epoch: 1, client, pairs: [] })).filter(
        Boolean,
      ).length
    expect([allowed('a', 20), allowed('b', 20), allowed('c', 20)]).toEqual([8, 8, 4])
    pass(5_001)
    expect([allowed('a', 20), allowed('d', 20)]).toEqual([1, 8])
  })

  test('from one client take 8 places of 48, and none of a name that is in use', () => {
    const pass = clockOf(cleanup)
    const known = createKnownCookies()
    const visit = (client: string, pair: string) => ({ siteId: 1, path: '/', epoch: 1, client, pairs: [pair] })
    for (let n = 0; n < 100; n++) known.due(visit('a', `x${n}=1`))
    for (let n = 0; n < 100; n++) known.learnDifferent(1, [`x${n}=1`])
    const counting = () => Array.from({ length: 100 }, (_, n) => known.counts(1, [`x${n}=2`])).filter(Boolean).length
    expect(counting()).toBe(8)
    expect(known.due(visit('b', 'member=ann'))).toEqual(['member=ann'])
    known.learnDifferent(1, ['member=ann'])
    for (let client = 0; client < 100; client++)
      for (let n = 0; n < 8; n++) known.due(visit(`c${client}`, `y${client}-${n}=1`))
    expect(known.counts(1, ['member=ann'])).toBe(true)
    expect(known.due(visit('d', 'late=1'))).toEqual([])
    // A place is free when its name was not seen for a while. A day later everything is unknown again.
    pass(11 * 60_000)
    expect(known.due(visit('d', 'late=1'))).toEqual(['late=1'])
    pass(24 * 60 * 60_000)
    expect(known.counts(1, ['member=ann'])).toBe(false)
  })
})

test.each([
  ['the same', 'a<b>c', 'a<b>c', 0],
  ['another order', '<li>a\n<li>b', '<li>b\n<li>a', 0],
  ['one piece more', '<p>a', '<p>a<p>b', 1],
  ['a text changed', '<p>a<p>b', '<p>a<p>c', 1],
  ['the same piece more often', '<p>a', '<p>a<p>a<p>a', 2],
])('counts the pieces in which two answers differ: %s', (_what, first, second, pieces) => {
  const answer = (body: string, isShared = true) => ({ isShared, body: Buffer.from(body) })
  expect(differenceOf(answer(first), answer(second))).toBe(pieces)
  expect(differenceOf(answer(first), answer(second, false))).toBe(Number.POSITIVE_INFINITY)
})
