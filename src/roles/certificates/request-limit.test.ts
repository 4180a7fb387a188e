import { expect, test } from 'vitest'
import { RequestLimit } from './request-limit.ts'

test('limits each machine by itself, for a minute', () => {
  let now = 100_000
  const limit = new RequestLimit(2, () => now)
  expect([limit.take('host:h1'), limit.take('host:h1'), limit.take('host:h1')]).toEqual([true, true, false])
  expect(limit.take('host:h2')).toBe(true)
  now += 59_999
  expect(limit.take('host:h1')).toBe(false)
  now += 1
  expect(limit.take('host:h1')).toBe(true)
})
