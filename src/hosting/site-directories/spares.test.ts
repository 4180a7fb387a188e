import { afterEach, expect, test, vi } from 'vitest'
import { noLog } from '../../platform/log/log.ts'
import { Spares, type SparesOptions } from './spares.ts'
import type { Template } from './template.ts'

afterEach(() => vi.useRealTimers())

/** A host with free site directories, where PHP is warm immediately. */
function makeSpares(servesOperations: () => boolean) {
  const startSpare = vi.fn(async () => ({
    exited: new Promise(() => {}),
    request: async () => ({ body: { resume() {} }, finished: Promise.resolve() }),
    runTask: async () => ({}),
    stop: async () => {},
  }))
  const siteDirectories = { free: async () => [{ id: 1 }, { id: 2 }], phpSite: () => ({}) }
  const pool = { startSpare, servesOperations }
  const options = { siteDirectories, pool, count: 1, phpVersion: '8.3', log: noLog } as unknown as SparesOptions
  return { spares: new Spares(options), startSpare }
}

test('makes a spare wait for sites that are being created, but not forever', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  let isMaking = true
  const { spares, startSpare } = makeSpares(() => isMaking)
  const refilled = spares.refill({} as Template)
  await vi.advanceTimersByTimeAsync(5000)
  expect(startSpare).not.toHaveBeenCalled()
  isMaking = false
  await vi.advanceTimersByTimeAsync(1000)
  await refilled
  expect(spares.warm).toBe(1)

  const busy = makeSpares(() => true)
  const first = busy.spares.refill({} as Template)
  await vi.advanceTimersByTimeAsync(20_000)
  await first
  expect(busy.spares.warm).toBe(1)
})

test('ends a spare whose PHP is starting when its host closes', async () => {
  const { spares, startSpare } = makeSpares(() => false)
  const asked = Promise.withResolvers<AbortSignal>()
  startSpare.mockImplementation(async (_site?: unknown, { signal }: { signal?: AbortSignal } = {}) => {
    asked.resolve(signal as AbortSignal)
    return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)))
  })
  const refilled = spares.refill({} as Template)
  await asked.promise
  await spares.close()
  await refilled
  expect(spares.warm).toBe(0)
})

test('ends a spare that is yielding when its host closes', async () => {
  const { spares, startSpare } = makeSpares(() => true)
  const refilled = spares.refill({} as Template)
  await spares.close()
  await refilled
  expect(startSpare).not.toHaveBeenCalled()
})
