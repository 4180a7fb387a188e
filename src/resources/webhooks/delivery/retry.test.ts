import { expect, test } from 'vitest'
import { RETRY_AFTER_MS, retryAfterMs, retryDelay } from './retry.ts'

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

test('reads Retry-After as seconds or a date', () => {
  const now = Date.UTC(2026, 0, 1)
  expect(retryAfterMs('120', now)).toBe(120_000)
  expect(retryAfterMs('Thu, 01 Jan 2026 00:01:00 GMT', now)).toBe(60_000)
  for (const nothing of [undefined, '', 'soon', '-5', '1.5', 'Thu, 01 Jan 1970 00:00:00 GMT'])
    expect(retryAfterMs(nothing, now)).toBe(0)
})
