import { afterEach, expect, test, vi } from 'vitest'
import { createSiteChanges, type OutdatedContent, type SiteChanges } from './site-changes.ts'

const silent = { warn() {} }
let changes: SiteChanges
/** The indexes of the orders that say that the shop plugin has changed. */
let shops: number[] = []
/** The same for plugins and themes. */
let listings: number[] = []
afterEach(() => changes?.close())

const said = (change: object) => JSON.stringify({ changed: change })

function recorder(more: { pauseMs?: number; softPauseMs?: number; mostPerMinute?: number; fail?: () => boolean } = {}) {
  const orders: Omit<OutdatedContent, 'shop' | 'extensions'>[] = []
  shops = []
  listings = []
  changes = createSiteChanges({
    log: silent,
    pauseMs: 20,
    ...more,
    async record(_siteId, change) {
      await new Promise((resolve) => setImmediate(resolve))
      if (more.fail?.()) throw new Error('away')
      const { shop, extensions, ...order } = change
      if (shop) shops.push(orders.length)
      if (extensions) listings.push(orders.length)
      return orders.push(order)
    },
  })
  return orders
}

test('orders the first change at once and a burst after it together, and each caller waits for its own change', async () => {
  const orders = recorder()
  changes.take(7, said({ paths: ['/a/'] }))
  expect(await changes.settled(7)).toBe(1)
  for (let i = 0; i < 50; i++) changes.take(7, said({ paths: [`/p${i % 5}/`] }))
  expect(await changes.settled(7)).toBe(2)
  expect(orders).toEqual([
    { pages: ['/a/'], files: [] },
    { pages: ['/p0/', '/p1/', '/p2/', '/p3/', '/p4/'], files: [] },
  ])
})

test('puts a change that arrives during an order into the next one', async () => {
  const orders = recorder()
  changes.take(7, said({ paths: ['/a/'] }))
  const first = changes.settled(7)
  changes.take(7, said({ paths: ['/b/'], files: true }))
  const second = changes.settled(7)
  expect([await first, await second]).toEqual([1, 2])
  expect(orders[1]).toEqual({ pages: ['/b/'], files: 'all' })
})

test('keeps the paths of files when all pages change, and purges all files for too many', async () => {
  const orders = recorder()
  changes.take(7, said({ all: true, filePaths: ['/wp-content/a.png'] }))
  await changes.settled(7)
  changes.take(7, said({ filePaths: ['/wp-content/b.png'], paths: ['/b/'] }))
  changes.take(7, said({ all: true }))
  changes.take(7, said({ filePaths: ['/wp-content/c*'] }))
  await changes.settled(7)
  changes.take(7, said({ filePaths: Array.from({ length: 101 }, (_, i) => `/wp-content/${i}.png`) }))
  await changes.settled(7)
  changes.take(7, said({ filePaths: ['no'] }))
  await changes.settled(7)
  expect(orders).toEqual([
    { pages: 'all', files: ['/wp-content/a.png'] },
    { pages: 'all', files: ['/wp-content/b.png', '/wp-content/c*'] },
    { pages: [], files: 'all' },
    { pages: [], files: 'all' },
  ])
})

test('purges all pages for everything, too many paths, or invalid paths, and ignores nonsense', async () => {
  const orders = recorder()
  const many = Array.from({ length: 101 }, (_, i) => `/p${i}/`)
  for (const change of [
    { all: true, paths: ['/a/'] },
    { paths: many },
    { paths: ['no'] },
    { paths: ['/a b'] },
    { paths: [1] },
  ]) {
    changes.take(7, said(change))
    await changes.settled(7)
    expect(orders.pop()?.pages).toBe('all')
  }
  for (const text of ['', '{', 'null', '[]', '7', '{"changed":null}', said({}), said({ paths: 'x' })])
    changes.take(7, text)
  await new Promise((resolve) => setImmediate(resolve))
  expect(orders).toEqual([])
})

test('returns the number of an order that went out before the call, because an edge may not know it yet', async () => {
  const orders = recorder()
  expect(changes.settled(7)).toBeUndefined()
  changes.take(7, said({ paths: ['/a/'] }))
  await expect.poll(() => orders.length).toBe(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(await changes.settled(7)).toBe(1)
})

test('keeps and retries an order that fails, without making callers wait', async () => {
  let failures = 1
  const orders = recorder({ fail: () => failures-- > 0 })
  changes.take(7, said({ paths: ['/a/'] }))
  expect(await changes.settled(7)).toBe(0)
  changes.take(7, said({ paths: ['/b/'] }))
  // No visitor waits for the next attempts.
  expect(changes.settled(7)).toBeUndefined()
  await expect.poll(() => orders).toEqual([{ pages: ['/a/', '/b/'], files: [] }])
  await expect.poll(() => changes.settled(7)).toBe(1)
})

test('slows down only a site that changes all the time, and no caller waits for it', async () => {
  const orders = recorder({ pauseMs: 1, mostPerMinute: 5 })
  const endAt = performance.now() + 200
  while (performance.now() < endAt) {
    changes.take(7, said({ all: true }))
    await changes.settled(7)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(orders.length).toBe(5)
  changes.take(8, said({ all: true }))
  expect(await changes.settled(8)).toBe(6)
  await changes.close()
  expect(orders.length).toBe(7)
})

test('purges everything for a site that sends more per second than is read, and still reads other sites', async () => {
  const orders = recorder()
  const parse = vi.spyOn(JSON, 'parse')
  const long = said({ paths: Array.from({ length: 100 }, (_, i) => `/${i}${'x'.repeat(1900)}`) })
  for (let i = 0; i < 1000; i++) changes.take(7, long)
  for (let i = 0; i < 1000; i++) changes.take(8, 'x'.repeat(200_000))
  const parsed = parse.mock.calls.length
  parse.mockRestore()
  changes.take(9, said({ paths: ['/a/'] }))
  await Promise.all([7, 8, 9].map((siteId) => changes.settled(siteId)))
  expect(parsed).toBeLessThan(10)
  expect(orders).toContainEqual({ pages: ['/a/'], files: [] })
  expect(orders).toContainEqual({ pages: 'all', files: 'all' })
})

test('orders soft changes at once, then at intervals, and no caller waits for them', async () => {
  const orders = recorder({ softPauseMs: 60_000 })
  const soft = said({ all: true, soft: true })
  changes.take(7, soft)
  await expect.poll(() => orders.length).toBe(1)
  for (let each = 0; each < 20; each++) changes.take(7, soft)
  // Does not wait for the whole interval.
  expect(await changes.settled(7)).toBe(1)
  expect(orders).toHaveLength(1)
  // A change that is known to be visible does not wait, and includes the soft ones.
  changes.take(7, said({ paths: ['/a/'] }))
  expect(await changes.settled(7)).toBe(2)
  expect(orders).toEqual([
    { pages: 'all', files: [] },
    { pages: 'all', files: [] },
  ])
  changes.take(7, soft)
  await changes.close()
  expect(orders).toHaveLength(3)
})

test('passes on that the shop plugin changed, once, and again if that failed', async () => {
  let failures = 1
  const orders = recorder({ fail: () => failures-- > 0 })
  changes.take(7, said({ all: true, shop: true }))
  expect(await changes.settled(7)).toBe(0)
  await expect.poll(() => orders.length).toBe(1)
  changes.take(7, said({ all: true }))
  await changes.settled(7)
  changes.take(7, said({ all: true, shop: 'yes' }))
  await changes.settled(7)
  expect([orders.length, shops]).toEqual([3, [0]])
})

test('passes on that plugins have changed, also if no page shows it, and then no caller waits', async () => {
  const orders = recorder({ softPauseMs: 20 })
  changes.take(7, said({ all: true, extensions: true }))
  const seq = await changes.settled(7)
  changes.take(7, said({ extensions: true }))
  expect(await changes.settled(7)).toBe(seq)
  await expect.poll(() => orders.length).toBe(2)
  changes.take(7, said({ all: true }))
  await changes.settled(7)
  changes.take(7, said({ extensions: 'yes' }))
  await changes.close()
  expect([orders, listings]).toEqual([
    [
      { pages: 'all', files: [] },
      { pages: [], files: [] },
      { pages: 'all', files: [] },
    ],
    [0, 1],
  ])
})

test('a change that has no purge leaves the number of the last one', async () => {
  changes = createSiteChanges({
    ...{ log: silent, pauseMs: 20, softPauseMs: 20 },
    record: async (_siteId, { pages }) => (pages.length > 0 ? 5 : 0),
  })
  changes.take(7, said({ all: true }))
  expect(await changes.settled(7)).toBe(5)
  changes.take(7, said({ extensions: true }))
  await new Promise((resolve) => setTimeout(resolve, 30))
  await changes.close()
  expect(await changes.settled(7)).toBe(5)
})
