import { afterEach, describe, expect, test, vi } from 'vitest'
import { eventually, routeTo } from '../test-support.ts'
import type { Route } from './route.ts'
import { createRouteTable, type RouteChange, RoutesBusy, type RouteTable, type RouteTableOptions } from './routes.ts'

interface Store extends Required<Pick<RouteTableOptions, 'load' | 'changesSince' | 'onChange'>> {
  rows: Map<string, { siteId: number }>
  upstream: string
  loads: string[]
  down: boolean
  changes: RouteChange[]
  gate: Promise<void> | undefined
  announce: () => void
  put(hostName: string, siteId: number): void
  remove(hostName: string): void
  move(upstream: string): void
}

/** Creates a store in memory that counts its queries and can be cut off. */
function createStore() {
  const store: Store = {
    rows: new Map<string, { siteId: number }>(),
    upstream: 'http://127.0.0.1:1',
    loads: [],
    down: false,
    changes: [],
    gate: undefined,
    announce: () => {},
    put(hostName, siteId) {
      store.rows.set(hostName, { siteId })
      store.changes.push({ seq: store.changes.length + 1, hostName })
    },
    remove(hostName: string): void {
      store.rows.delete(hostName)
      store.changes.push({ seq: store.changes.length + 1, hostName })
    },
    move(upstream: string): void {
      store.upstream = upstream
      store.changes.push({ seq: store.changes.length + 1, hostId: 1, upstream })
    },
    async load(hostName: string): Promise<Route | undefined> {
      store.loads.push(hostName)
      if (store.down) throw new Error('database is gone')
      const row = store.rows.get(hostName)
      const { upstream } = store
      await store.gate
      return row && routeTo(upstream, { hostName, siteId: row.siteId })
    },
    async changesSince(seq: number | undefined) {
      if (store.down) throw new Error('database is gone')
      const newest = store.changes.at(-1)?.seq ?? 0
      return { newest, changes: seq === undefined ? [] : store.changes.filter((change) => change.seq > seq) }
    },
    onChange(callback: () => void): () => void {
      store.announce = callback
      return () => {
        store.announce = () => {}
      }
    },
  }
  return store
}

let table: RouteTable | undefined
afterEach(() => table?.close())

function start(store: ReturnType<typeof createStore>, more: Partial<RouteTableOptions> = {}): RouteTable {
  table = createRouteTable({ ...store, pollMs: 1_000_000, ...more })
  return table
}

describe('a name that was never looked up while the database is away', () => {
  test('is served from the disk as outdated, and looked up when the database is back', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const disk = new Map([['a.test', routeTo('http://127.0.0.1:9', { hostName: 'a.test', siteId: 7 })]])
    const routes = start(store, { lastKnown: (hostName) => disk.get(hostName), retryMs: 0 })
    await routes.refresh()
    store.down = true
    expect(await routes.find('a.test')).toMatchObject({ siteId: 7, isOutdated: true })
    expect(await routes.find('a.test')).toMatchObject({ siteId: 7, isOutdated: true })
    await expect(routes.find('b.test')).rejects.toThrow('database is gone')
    store.down = false
    const found = await routes.find('a.test')
    expect([found?.siteId, found?.isOutdated]).toEqual([1, undefined])
  })
})

describe('find', () => {
  test('asks the store once and then answers without a promise', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store)
    await routes.refresh()
    expect(await routes.find('a.test')).toMatchObject({ siteId: 1 })
    expect(routes.find('a.test')).toMatchObject({ siteId: 1 })
    expect(store.loads).toEqual(['a.test'])
  })

  test('applies a change of a wildcard to the names below it, known or not', async () => {
    const store = createStore()
    store.put('a.shop.test', 1)
    const routes = start(store)
    await routes.refresh()
    const names = ['a.shop.test', 'b.shop.test', 'a.b.shop.test', 'shop.test']
    const found = async () => Promise.all(names.map(async (name) => (await routes.find(name))?.siteId))
    expect(await found()).toEqual([1, undefined, undefined, undefined])
    for (const name of names) store.rows.set(name, { siteId: 2 })
    store.put('*.shop.test', 2)
    await routes.refresh()
    expect(await found()).toEqual([2, 2, undefined, undefined])
  })

  test('combines simultaneous look-ups of one name', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store)
    await routes.refresh()
    const found = await Promise.all(Array.from({ length: 50 }, () => routes.find('a.test')))
    expect(found.every((route) => route?.siteId === 1)).toBe(true)
    expect(store.loads).toHaveLength(1)
  })

  test('remembers misses for a while, separate from the routes', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store, { maxMisses: 10, maxRoutes: 10, missTtlMs: 30 })
    await routes.refresh()
    await routes.find('a.test')
    for (let i = 0; i < 100; i++) expect(await routes.find(`n${i}.test`)).toBeUndefined()
    expect(await routes.find('n99.test')).toBeUndefined()
    expect(store.loads).toHaveLength(101)
    expect(routes.find('a.test')).toMatchObject({ siteId: 1 })
    await eventually(() => routes.find('n99.test') instanceof Promise)
  })

  test('limits the look-ups at once', async () => {
    const store = createStore()
    let open = () => {}
    store.gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const routes = start(store, { maxPending: 3 })
    const waiting = [1, 2, 3].map((i) => routes.find(`n${i}.test`))
    await expect(routes.find('n4.test')).rejects.toThrow(RoutesBusy)
    open()
    await Promise.all(waiting)
    expect(await routes.find('n4.test')).toBeUndefined()
  })

  test('rejects for an unknown name when the store is down, and recovers', async () => {
    const store = createStore()
    store.put('a.test', 1)
    store.down = true
    const routes = start(store)
    await expect(routes.find('a.test')).rejects.toThrow('database is gone')
    store.down = false
    expect(await routes.find('a.test')).toMatchObject({ siteId: 1 })
  })
})

describe('changes', () => {
  test('makes the next look-up fresh after a notification: changed, removed, added', async () => {
    const store = createStore()
    store.put('a.test', 1)
    store.put('b.test', 2)
    const routes = start(store)
    await Promise.all([routes.find('a.test'), routes.find('b.test'), routes.find('c.test')])
    store.put('a.test', 10)
    store.remove('b.test')
    store.put('c.test', 3)
    store.announce()
    await eventually(() => routes.find('a.test') instanceof Promise)
    expect(await routes.find('a.test')).toMatchObject({ siteId: 10 })
    expect(await routes.find('b.test')).toBeUndefined()
    expect(await routes.find('c.test')).toMatchObject({ siteId: 3 })
  })

  test('applies each change once, and looks again at no cost', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store)
    await routes.refresh()
    await routes.find('a.test')
    for (let i = 0; i < 5; i++) await routes.refresh()
    expect(routes.find('a.test')).toMatchObject({ siteId: 1 })
    expect(store.loads).toHaveLength(1)
  })

  test('applies the new address of a host to all its routes as one change, without reading them again', async () => {
    const store = createStore()
    for (let n = 0; n < 100; n++) store.put(`s${n}.test`, n)
    const routes = start(store)
    await routes.refresh()
    for (let n = 0; n < 100; n++) await routes.find(`s${n}.test`)
    store.move('http://127.0.0.1:2')
    await routes.refresh()
    for (let n = 0; n < 100; n++) expect(routes.find(`s${n}.test`)).toMatchObject({ upstream: 'http://127.0.0.1:2' })
    await routes.refresh()
    expect(store.loads).toHaveLength(100)
  })

  test('applies the new address of a host while a route of it is being read', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store)
    await routes.refresh()
    let open = () => {}
    store.gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const found = routes.find('a.test')
    await eventually(() => store.loads.length === 1)
    store.move('http://127.0.0.1:2')
    await routes.refresh()
    open()
    expect(await found).toMatchObject({ upstream: 'http://127.0.0.1:2' })
  })

  test.each([
    ['a gap: an edge that slept too long', (store: Store) => void store.changes.splice(0, store.changes.length - 1)],
    ['a number that goes back: an older copy of the database', (store: Store) => void store.changes.splice(1)],
  ])('reads everything again after %s', async (_what, damage) => {
    const store = createStore()
    for (const name of ['a.test', 'b.test', 'c.test']) store.put(name, 1)
    const routes = start(store)
    await routes.refresh()
    await routes.find('a.test')
    store.rows.set('a.test', { siteId: 10 })
    store.put('d.test', 1)
    store.put('e.test', 1)
    damage(store)
    await routes.refresh()
    expect(await routes.find('a.test')).toMatchObject({ siteId: 10 })
  })

  test('reads what was loaded before the first look again', async () => {
    const store = createStore()
    store.put('a.test', 1)
    store.down = true
    const routes = start(store)
    await expect(routes.refresh()).rejects.toThrow()
    store.down = false
    await routes.find('a.test')
    store.put('a.test', 10)
    await routes.refresh()
    expect(await routes.find('a.test')).toMatchObject({ siteId: 10 })
  })

  test('drops the result of a look-up during which a change came', async () => {
    const store = createStore()
    store.put('a.test', 1)
    let open = () => {}
    store.gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const routes = start(store)
    const found = routes.find('a.test')
    await eventually(() => store.loads.length === 1)
    store.put('a.test', 10)
    await routes.refresh()
    open()
    expect(await found).toMatchObject({ siteId: 10 })
    expect(routes.find('a.test')).toMatchObject({ siteId: 10 })
  })

  test('polls when nothing is announced', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store, { pollMs: 10, onChange: undefined })
    await routes.find('a.test')
    await routes.refresh()
    store.put('a.test', 10)
    await eventually(async () => (await routes.find('a.test'))?.siteId === 10)
  })

  test('looks an old route up again while serving it', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store, { maxAgeMs: 1 })
    await routes.find('a.test')
    store.rows.set('a.test', { siteId: 10 })
    await eventually(async () => (await routes.find('a.test'))?.siteId === 10)
  })

  test('looks a suspected route up again, at a limited rate', async () => {
    const store = createStore()
    store.put('a.test', 1)
    const routes = start(store, { retryMs: 1_000 })
    const clock = vi.spyOn(performance, 'now').mockReturnValue(10_000)
    try {
      await routes.refresh()
      await routes.find('a.test')
      store.rows.set('a.test', { siteId: 10 })
      clock.mockReturnValue(11_000)
      routes.suspect('a.test')
      routes.suspect('unknown.test')
      expect(store.loads).toHaveLength(1)
      clock.mockReturnValue(11_001)
      await eventually(async () => {
        routes.suspect('a.test')
        return (await routes.find('a.test'))?.siteId === 10
      })
    } finally {
      clock.mockRestore()
    }
    expect(store.loads).toHaveLength(2)
  })
})

test('keeps serving known routes without the database, even changed ones, and retries sparingly', async () => {
  const store = createStore()
  store.put('a.test', 1)
  const onError = vi.fn()
  const routes = start(store, { onError, retryMs: 30 })
  await routes.find('a.test')
  store.put('a.test', 10)
  await routes.refresh()
  store.down = true
  for (let i = 0; i < 20; i++) expect(await routes.find('a.test')).toMatchObject({ siteId: 1 })
  expect(store.loads.length).toBeLessThan(20)
  expect(onError).toHaveBeenCalled()
  await expect(routes.refresh()).rejects.toThrow('database is gone')
  store.down = false
  await eventually(async () => (await routes.find('a.test'))?.siteId === 10)
})
