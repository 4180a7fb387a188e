import { afterEach, expect, test, vi } from 'vitest'
import { type Change, createSiteChanges, type SiteChanges } from './site-changes.ts'

const silent = { warn() {} }
let changes: SiteChanges
afterEach(() => changes?.close())

const said = (change: object) => JSON.stringify({ changed: change })

function recorder(more: { pauseMs?: number; softPauseMs?: number; mostPerMinute?: number; fail?: () => boolean } = {}) {
  const orders: Change[] = []
  changes = createSiteChanges({
    log: silent,
    pauseMs: 20,
    ...more,
    async record(_siteId, change) {
      await new Promise((resolve) => setImmediate(resolve))
      if (more.fail?.()) throw new Error('away')
      return orders.push(change)
    },
  })
  return orders
}

test('the first change is ordered at once, a burst after it together; everybody waits for the order with his change', async () => {
  const orders = recorder()
  changes.take(7, said({ paths: ['/a/'] }))
  expect(await changes.settled(7)).toBe(1)
  for (let i = 0; i < 50; i++) changes.take(7, said({ paths: [`/p${i % 5}/`] }))
  expect(await changes.settled(7)).toBe(2)
  expect(orders).toEqual([
    { pages: ['/a/'], files: false },
    { pages: ['/p0/', '/p1/', '/p2/', '/p3/', '/p4/'], files: false },
  ])
})

test('a change that comes while an order is on its way is in the next one', async () => {
  const orders = recorder()
  changes.take(7, said({ paths: ['/a/'] }))
  const first = changes.settled(7)
  changes.take(7, said({ paths: ['/b/'], files: true }))
  const second = changes.settled(7)
  expect([await first, await second]).toEqual([1, 2])
  expect(orders[1]).toEqual({ pages: ['/b/'], files: true })
})

test('everything, too many paths and paths that make no sense: all pages; nonsense: nothing', async () => {
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

test('whoever asks after the order went out gets its number: an edge may not know of it yet', async () => {
  const orders = recorder()
  expect(changes.settled(7)).toBeUndefined()
  changes.take(7, said({ paths: ['/a/'] }))
  await expect.poll(() => orders.length).toBe(1)
  await new Promise((resolve) => setImmediate(resolve))
  expect(await changes.settled(7)).toBe(1)
})

test('an order that fails is kept and tried again; nobody waits for that', async () => {
  let failures = 1
  const orders = recorder({ fail: () => failures-- > 0 })
  changes.take(7, said({ paths: ['/a/'] }))
  expect(await changes.settled(7)).toBe(0)
  changes.take(7, said({ paths: ['/b/'] }))
  expect(await changes.settled(7)).toBe(1)
  expect(orders).toEqual([{ pages: ['/a/', '/b/'], files: false }])
})

test('a site that changes all the time is held back, alone, and nobody waits for it', async () => {
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

test('who says more in a second than can be listened to has changed everything; others are listened to', async () => {
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
  expect(orders).toContainEqual({ pages: ['/a/'], files: false })
  expect(orders).toContainEqual({ pages: 'all', files: true })
})

test('what nobody knows to be shown is ordered at once, then ever so often, and nobody waits for it', async () => {
  const orders = recorder({ softPauseMs: 60_000 })
  const soft = said({ all: true, soft: true })
  changes.take(7, soft)
  await expect.poll(() => orders.length).toBe(1)
  for (let each = 0; each < 20; each++) changes.take(7, soft)
  // not for as long as that
  expect(await changes.settled(7)).toBe(1)
  expect(orders).toHaveLength(1)
  // what is known to be shown does not wait, and takes the others along
  changes.take(7, said({ paths: ['/a/'] }))
  expect(await changes.settled(7)).toBe(2)
  expect(orders).toEqual([
    { pages: 'all', files: false },
    { pages: 'all', files: false },
  ])
  changes.take(7, soft)
  await changes.close()
  expect(orders).toHaveLength(3)
})
