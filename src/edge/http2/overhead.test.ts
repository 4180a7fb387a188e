import { expect, test } from 'vitest'
import { createOverheadBound, type Moved } from './overhead.ts'

const MB = 1 << 20
const nothing: Moved = { readBytes: 0, writtenBytes: 0, bodyBytes: 0, requests: 0 }

test('limits bytes that belong to no request or body to a burst, and then to a rate', () => {
  const isWithin = createOverheadBound(32_768)
  expect(isWithin({ ...nothing, readBytes: 4 * MB }, 0)).toBe(true)
  // 64 kB come back per second.
  expect(isWithin({ ...nothing, readBytes: 5 * MB }, 16_000)).toBe(true)
  expect(isWithin({ ...nothing, readBytes: 5 * MB + 1 }, 16_000)).toBe(false)
})

test('limits the credit of an idle connection to the burst', () => {
  const isWithin = createOverheadBound(32_768)
  expect(isWithin(nothing, 0)).toBe(true)
  expect(isWithin({ ...nothing, readBytes: 4 * MB + 1 }, 3_600_000)).toBe(false)
})

test('does not count uploads, downloads in small pieces, or many requests as overhead', () => {
  const isWithin = createOverheadBound(32_768)
  const moved = { readBytes: 0, writtenBytes: 0, bodyBytes: 0, requests: 0 }
  for (let second = 0; second < 1_000; second++) {
    // 10 MB of a body in frames of 100 bytes, 100 MB of answers whose windows are opened every 4 kB, 100 requests of 2
    // kB.
    moved.bodyBytes += 10 * MB
    moved.writtenBytes += 100 * MB
    moved.requests += 100
    moved.readBytes += 10 * MB * 1.09 + (100 * MB * 26) / 4096 + 100 * 2048
    expect(isWithin(moved, second * 1_000)).toBe(true)
  }
})
