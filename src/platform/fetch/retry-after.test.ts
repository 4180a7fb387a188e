import { expect, test } from 'vitest'
import { retryAfterMs } from './retry-after.ts'

const NOW = Date.parse('2026-11-23T00:00:00Z')

test.each([
  ['120', 120_000],
  ['Mon, 23 Nov 2026 01:00:00 GMT', 3_600_000],
  ['Sun, 22 Nov 2026 01:00:00 GMT', 0],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 0],
])('reads seconds or a date: %s', (header, expected) => {
  expect(retryAfterMs(header, NOW)).toBe(expected)
})

test.each([undefined, '', 'soon', '-5', '1.5'])('returns undefined for %s', (header) => {
  expect(retryAfterMs(header, NOW)).toBeUndefined()
})
