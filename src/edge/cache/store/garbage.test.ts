import { constants, PerformanceObserver } from 'node:perf_hooks'
import { afterEach, expect, test } from 'vitest'
import { createCleanup, eventually } from '../../test-support.ts'
import { page, startCachedSite } from '../test-support.ts'
import { createGarbage } from './garbage.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

/** Simulates buffers: `collect` frees unused ones, except those that something else holds. */
function counted() {
  const bytes = { inUse: 100, left: 0, held: 0 }
  let collections = 0
  const garbage = createGarbage({
    inUse: () => bytes.inUse,
    mostBytes: 50,
    external: () => bytes.inUse + bytes.left + bytes.held,
    collect() {
      collections++
      bytes.left = 0
    },
  })
  const many = () => {
    for (let i = 0; i < 100; i++) garbage.mayHaveGrown()
  }
  return { bytes, many, count: () => collections }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('collects garbage when there is too much, once, and not before', async () => {
  const { bytes, many, count } = counted()
  bytes.left = 50
  many()
  await turn()
  expect(count()).toBe(0)
  bytes.left = 51
  many()
  await turn()
  expect([count(), bytes.left]).toEqual([1, 0])
  many()
  await turn()
  expect(count()).toBe(1)
})

test('collects again after a pause, and less and less often if it does not help', async () => {
  const { bytes, many, count } = counted()
  const after = async () => {
    const startedAt = performance.now()
    const before = count()
    await eventually(() => {
      bytes.left += 51
      many()
      return count() > before
    })
    return performance.now() - startedAt
  }
  await after()
  expect(await after()).toBeGreaterThan(200)
  bytes.held = 1_000
  await after()
  expect(await after()).toBeGreaterThan(400)
})

test('frees buffers of the process that are no longer used', async () => {
  const garbage = createGarbage({ inUse: () => 0, mostBytes: 8 << 20 })
  let buffers: Buffer[] | undefined = Array.from({ length: 256 }, () => Buffer.alloc(1 << 20, 1))
  expect(process.memoryUsage().arrayBuffers).toBeGreaterThan(256 << 20)
  buffers = undefined
  for (let i = 0; i < 16; i++) garbage.mayHaveGrown()
  await eventually(() => process.memoryUsage().arrayBuffers < 200 << 20)
  expect(buffers).toBeUndefined()
})

test('makes V8 collect the garbage of pages that come and go', async () => {
  let asked = 0
  const observer = new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries() as { detail?: { flags?: number } }[])
      if (((detail?.flags ?? 0) & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) asked++
  })
  observer.observe({ entryTypes: ['gc'] })
  cleanup.add(() => observer.disconnect())
  const site = await startCachedSite(cleanup, (_request, response) => page(response, 'x'.repeat(200_000)), {
    cache: { memoryBytes: 4 << 20 },
  })
  let visits = 0
  await eventually(async () => {
    await Promise.all(Array.from({ length: 20 }, () => site.get(`/${visits++}/`)))
    return asked > 0
  })
})
