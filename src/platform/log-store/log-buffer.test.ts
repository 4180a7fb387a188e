import { expect, test } from 'vitest'
import { budgetOf } from '../../../test/support/budget.ts'
import type { Budget } from '../budgets/budget.ts'
import { createLogBuffer } from './log-buffer.ts'
import type { LogRecord } from './log-store.ts'

const entry = (id: number): LogRecord => ({ siteId: 1, atMs: 1, id, facet: 1, key: '', body: 'x'.repeat(800) })

/** Creates a store that fails as long as the test wants. */
function fakeStore() {
  const state = { fails: false, calls: 0, atOnce: 0, most: 0, stored: [] as number[] }
  return {
    state,
    async append(_kind: string, records: readonly LogRecord[]) {
      state.calls++
      state.most = Math.max(state.most, ++state.atOnce)
      await new Promise(setImmediate)
      state.atOnce--
      if (state.fails) throw new Error('no')
      state.stored.push(...records.map(({ id }) => id))
    },
  }
}
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n)

function buffered(options: { batch?: number; budget?: Budget; flushMs?: number } = {}) {
  const store = fakeStore()
  const told: object[] = []
  const log = { warn: (facts: object) => void told.push(facts) }
  const bounds = { budget: budgetOf(), flushMs: 5, retryMs: 5, batch: 10, ...options }
  const buffer = createLogBuffer({ store, kind: 'server', log, ...bounds })
  const until = async (test: () => boolean) => {
    while (!test()) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  return { store, buffer, told, until }
}

test('stores a few after a moment, many at once, in order and one batch at a time', async () => {
  const { store, buffer, until } = buffered()
  for (const n of numbers(3)) buffer.add(entry(n))
  await until(() => store.state.stored.length === 3)
  for (const n of numbers(997)) buffer.add(entry(n + 3))
  await until(() => store.state.stored.length === 1000)
  expect(store.state.stored).toEqual(numbers(1000))
  expect(store.state.most).toBe(1)
  await buffer.close()
})

test('retries a batch that fails, and loses nothing in between', async () => {
  const { store, buffer, until, told } = buffered()
  store.state.fails = true
  for (const n of numbers(25)) buffer.add(entry(n))
  await until(() => store.state.calls > 3)
  store.state.fails = false
  await until(() => store.state.stored.length === 25)
  expect(store.state.stored).toEqual(numbers(25))
  expect(told).toHaveLength(1)
  await buffer.close()
})

test('limits memory while the store is away, and counts and reports dropped entries', async () => {
  const { store, buffer, until, told } = buffered({ budget: budgetOf(100_000) })
  store.state.fails = true
  for (const n of numbers(1000)) buffer.add(entry(n))
  expect(buffer.dropped()).toBe(900)
  store.state.fails = false
  await until(() => store.state.stored.length === 100)
  expect(told.at(-1)).toMatchObject({ dropped: 900 })
  buffer.add(entry(1000))
  await buffer.close()
  expect(store.state.stored.at(-1)).toBe(1000)
})

test('leaves space for others when one site floods', async () => {
  const { store, buffer } = buffered({ budget: budgetOf(100_000, 50_000) })
  store.state.fails = true
  for (const n of numbers(1000)) buffer.add(entry(n))
  for (const n of numbers(20)) buffer.add({ ...entry(1000 + n), siteId: 2 })
  store.state.fails = false
  await buffer.close()
  expect(store.state.stored).toHaveLength(50 + 20)
})

test('stores everything on close, and gives up if that is impossible', async () => {
  const slow = buffered({ flushMs: 60_000 })
  for (const n of numbers(25)) slow.buffer.add(entry(n))
  await slow.buffer.close()
  expect(slow.store.state.stored).toEqual(numbers(25))
  const { store, buffer, told } = buffered()
  store.state.fails = true
  buffer.add(entry(1))
  await buffer.close(50)
  expect(told.at(-1)).toMatchObject({ lost: 1 })
})
