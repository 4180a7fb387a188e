import { expect, test } from 'vitest'
import { flushingAlong } from './flushing-along.ts'

test('flushes long work while it runs, does not flush small work, and flushes nothing after it has ended', async () => {
  let written = 0
  let flushes = 0
  const first = Promise.withResolvers<void>()
  const end = Promise.withResolvers<string>()
  const flush = async () => {
    flushes++
    first.resolve()
  }
  const work = flushingAlong('/', () => written, end.promise, flush)
  written = 65 << 20
  await first.promise
  written += 1 << 20
  end.resolve('done')
  expect(await work).toBe('done')
  expect(flushes).toBe(1)
  await expect(flushingAlong('/', () => written, Promise.reject(new Error('no')), flush)).rejects.toThrow('no')
  expect(flushes).toBe(1)
})
