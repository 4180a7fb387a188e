import { expect, test } from 'vitest'
import { RETRY_AFTER_MS, retryDelay } from './retry.ts'

test('follows the schedule, with up to a tenth more, and ends with it', () => {
  expect(RETRY_AFTER_MS.map((_, index) => retryDelay(index + 1, 0, 0))).toEqual([...RETRY_AFTER_MS])
  expect(retryDelay(1, 0, 1)).toBe(5500)
  expect(retryDelay(10, 0, 0)).toBeUndefined()
})

test('waits longer if a receiver asks for it, up to a day', () => {
  expect(retryDelay(1, 60_000, 0)).toBe(60_000)
  expect(retryDelay(2, 60_000, 0)).toBe(300_000)
  expect(retryDelay(1, 1e12, 0)).toBe(86_400_000)
})
