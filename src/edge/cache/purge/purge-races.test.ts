/** Purges that race with everything that can happen at the same time. */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createCleanup, eventually } from '../../test-support.ts'
import { page, purgeLog, type Script, startCachedSite, statusOf } from '../test-support.ts'
import { createPurgeFeed } from './purge-feed.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

/** Starts a host whose page shows the content at the time when the request arrived, and answers on command. */
async function slowSite(more = {}) {
  const host = { content: 1, waiting: [] as (() => void)[], slow: true }
  const site = await startCachedSite(
    cleanup,
    (_request, response) => {
      const body = String(host.content)
      const answer = () => page(response, body)
      if (host.slow) host.waiting.push(answer)
      else answer()
    },
    more,
  )
  const release = () => {
    for (const answer of host.waiting.splice(0)) answer()
  }
  return { host, site, release }
}

describe('a purge while the host works on a page', () => {
  test.each([
    ['all pages', { pages: 'all' as const }],
    ['its path', { pages: ['/'] }],
    ['a path above it', { pages: ['/*'] }],
  ])('by %s: does not store the page, nor show it to visitors who waited for it', async (_what, order) => {
    const { host, site, release } = await slowSite()
    const leader = site.get('/')
    await eventually(() => host.waiting.length === 1)
    const waiters = [site.get('/'), site.get('/'), site.get('/', {}, 'HEAD')]
    await eventually(() => site.cache.stats().originFetches === 1)
    await new Promise((resolve) => setTimeout(resolve, 20))
    host.content = 2
    site.log.commit(order)
    await site.feed.refresh()
    release()
    // An answer that was requested before the change may predate it.
    expect((await leader).body).toBe('1')
    await eventually(() => host.waiting.length > 0)
    release()
    for (const waiter of waiters.slice(0, 2)) expect((await waiter).body).toBe('2')
    expect((await waiters[2])?.headers['content-length']).toBe('1')
    host.slow = false
    expect((await site.get('/')).body).toBe('2')
    expect(site.asked.length).toBe(2)
  })

  test('of another path: stores the page', async () => {
    const { host, site, release } = await slowSite()
    const leader = site.get('/a/')
    await eventually(() => host.waiting.length === 1)
    site.log.commit({ pages: ['/b/', '/a/b/*'] })
    await site.feed.refresh()
    release()
    await leader
    expect(statusOf(await site.get('/a/'))).toContain('; hit;')
  })

  test('does not restore the old page from a stale refresh in progress', async () => {
    const { host, site, release } = await slowSite()
    host.slow = false
    await site.get('/')
    host.slow = true
    // Stale from now on.
    const clock = performance.now
    cleanup.add(() => {
      performance.now = clock
    })
    performance.now = () => clock.call(performance) + 700_000
    await site.feed.refresh()
    expect((await site.get('/')).body).toBe('1')
    await eventually(() => host.waiting.length === 1)
    host.content = 2
    site.log.commit({ pages: ['/'] })
    await site.feed.refresh()
    release()
    await eventually(() => site.cache.stats().originFetches === 0)
    host.slow = false
    expect((await site.get('/')).body).toBe('2')
  })
})

describe('a page with another spelling of the address that purges name', () => {
  /** An address in capitals is the same as one without. */
  const spelled = (slow = false) => {
    const host = { content: 1, waiting: [] as (() => void)[], slow }
    const script: Script = (request, response) => {
      const body = String(host.content)
      const shows = (request.url as string).toLowerCase()
      const answer = () => page(response, body, { 'x-stead-shows': `${shows} /list/` })
      if (host.slow) host.waiting.push(answer)
      else answer()
    }
    return { host, script }
  }

  test.each(['/slug/', '/slug/*', '/list/'])('is dropped with %s, and with nothing else', async (pattern) => {
    const { host, script } = spelled()
    const site = await startCachedSite(cleanup, script)
    const { headers } = await site.get('/SLUG/')
    expect(Object.keys(headers)).not.toContain('x-stead-shows')
    site.log.commit({ pages: ['/other/', '/slugs/*', '/list/more/'] })
    await site.feed.refresh()
    expect(statusOf(await site.get('/SLUG/'))).toContain('; hit;')
    host.content = 2
    site.log.commit({ pages: [pattern] })
    await site.feed.refresh()
    expect((await site.get('/SLUG/')).body).toBe('2')
  })

  test('is not stored, nor shown to visitors who came after the purge, while the host works on it', async () => {
    const { host, script } = spelled(true)
    const site = await startCachedSite(cleanup, script)
    const leader = site.get('/SLUG/')
    await eventually(() => host.waiting.length === 1)
    host.content = 2
    site.log.commit({ pages: ['/slug/'] })
    await site.feed.refresh()
    const waiter = site.get('/SLUG/')
    host.slow = false
    host.waiting[0]?.()
    expect((await leader).body).toBe('1')
    expect((await waiter).body).toBe('2')
    expect((await site.get('/SLUG/')).body).toBe('2')
  })

  test('is not stored if more was purged in the meantime than can be remembered', async () => {
    const { host, script } = spelled(true)
    const site = await startCachedSite(cleanup, script)
    const leader = site.get('/SLUG/')
    await eventually(() => host.waiting.length === 1)
    for (let round = 0; round < 3; round++)
      site.log.commit({ pages: Array.from({ length: 100 }, (_, index) => `/${round}/${index}`) })
    await site.feed.refresh()
    host.slow = false
    host.waiting[0]?.()
    await leader
    expect(statusOf(await site.get('/SLUG/'))).toContain('fwd=uri-miss')
  })
})

test('learns of a purge within the poll interval without a notification, and at once with one', async () => {
  const { host, site } = await slowSite({ feedMs: { pollMs: 50 } })
  host.slow = false
  await site.get('/')
  host.content = 2
  site.log.commit({ pages: 'all' }, false)
  await eventually(async () => (await site.get('/')).body === '2')
  host.content = 3
  const seq = site.log.commit({ pages: 'all' })
  await site.feed.reach(seq)
  expect((await site.get('/')).body).toBe('3')
})

test('asks the host when the purge feed is unavailable, and shows what it has if the host fails too', async () => {
  const { host, site } = await slowSite({ feedMs: { pollMs: 20, currentMs: 100 } })
  host.slow = false
  await site.get('/')
  expect(statusOf(await site.get('/'))).toContain('; hit;')
  site.log.isAway = true
  await eventually(() => !site.feed.isCurrent())
  host.content = 2
  // For a few seconds, a page counts without news of purges: PHP does not make it for each visitor.
  expect(statusOf(await site.get('/'))).toContain('; hit;')
  const clock = performance.now
  cleanup.add(() => {
    performance.now = clock
  })
  performance.now = () => clock.call(performance) + 6_000
  expect((await site.get('/')).body).toBe('2')
  performance.now = () => clock.call(performance) + 12_000
  site.route = { ...site.route, upstream: 'http://127.0.0.1:1' }
  const stale = await site.get('/')
  expect([stale.status, stale.body, statusOf(stale)]).toEqual([200, '2', expect.stringContaining('host-failed')])
  site.log.isAway = false
  await eventually(() => site.feed.isCurrent())
  expect(statusOf(await site.get('/'))).toContain('; hit;')
})

test('empties the cache when it missed purges for too long, or when the database went back in time', async () => {
  const { host, site } = await slowSite()
  host.slow = false
  await site.get('/')
  for (let i = 0; i < 3; i++) site.log.commit({ pages: ['/other/'] }, false)
  site.log.since = async () => ({ newest: 3, purges: site.log.purges.slice(2) })
  host.content = 2
  await site.feed.refresh()
  expect((await site.get('/')).body).toBe('2')
  site.log.since = async () => ({ newest: 1, purges: [] })
  host.content = 3
  await site.feed.refresh()
  expect((await site.get('/')).body).toBe('3')
})

test('stores nothing before the first look at the purges', async () => {
  const log = purgeLog()
  log.isAway = true
  const feed = createPurgeFeed({ since: (seq) => log.since(seq) })
  cleanup.add(() => feed.close())
  const site = await startCachedSite(cleanup, (_request, response, count) => page(response, String(count)), {
    cache: { purges: feed },
  })
  expect((await site.get('/')).body).toBe('1')
  expect((await site.get('/')).body).toBe('2')
})

test('does not rely on an outdated route that could not be read again', async () => {
  const { host, site } = await slowSite()
  host.slow = false
  await site.get('/')
  host.content = 2
  site.route = { ...site.route, isOutdated: true }
  expect((await site.get('/')).body).toBe('2')
})

test('answers a change only when the edge has dropped the old page', async () => {
  const log = purgeLog()
  let content = 1
  const site = await startCachedSite(cleanup, (request, response) => {
    if (request.method !== 'POST') return page(response, String(content))
    content++
    // No notification: only the number in the answer tells.
    return page(response, 'saved', { 'x-stead-purge': String(site.log.commit({ pages: 'all' }, false)) })
  })
  expect(log.purges.length).toBe(0)
  for (let i = 0; i < 50; i++) {
    await Promise.all([site.get('/'), site.get('/x/')])
    const saved = await site.get('/edit', {}, 'POST')
    expect([saved.body, saved.headers['x-stead-purge']]).toEqual(['saved', undefined])
    expect((await site.get('/')).body).toBe(String(content))
  }
})

/**
 * The model: content has a version. A purge follows each change, and is acknowledged when the edge knows it. A later
 * request must never see an older version, whatever the order of requests, answers, changes, and notifications.
 */
test('never shows a page from before an acknowledged purge, in hundreds of interleavings', async () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ kind: 'get' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'head' as const }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), which: fc.nat(5) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('change' as const), all: fc.boolean() }) },
    { weight: 2, arbitrary: fc.constant({ kind: 'acknowledge' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'turn' as const }) },
  )
  const { host, site, release } = await slowSite()
  let known = host.content
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 24 }), async (actions) => {
      const replies: Promise<void>[] = []
      for (const each of actions) {
        if (each.kind === 'get' || each.kind === 'head') {
          const least = known
          replies.push(
            site.get('/', {}, each.kind === 'get' ? 'GET' : 'HEAD').then((reply) => {
              if (each.kind === 'get') expect(Number(reply.body)).toBeGreaterThanOrEqual(least)
            }),
          )
        } else if (each.kind === 'answer') host.waiting.splice(each.which, 1)[0]?.()
        else if (each.kind === 'change') {
          host.content++
          site.log.commit(each.all ? { pages: 'all' } : { pages: ['/'] }, false)
        } else if (each.kind === 'acknowledge') {
          await site.feed.refresh()
          known = host.content
        } else await new Promise((resolve) => setTimeout(resolve, 1))
      }
      host.slow = false
      release()
      await Promise.all(replies)
      host.slow = true
    }),
    { numRuns: 400 },
  )
})
