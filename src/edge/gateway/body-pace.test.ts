import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { BodyPace } from './body-pace.ts'

let slow: number
let pace: BodyPace
beforeEach(() => {
  vi.useFakeTimers()
  slow = 0
  pace = new BodyPace(
    { windowMs: 1_000, leastBytes: 100 },
    () => slow++,
    () => Date.now(),
  )
})
afterEach(() => vi.useRealTimers())

/** @param everyMs the wait for the visitor before each piece */
const send = (pieces: number, bytes: number, everyMs: number) => {
  for (let i = 0; i < pieces; i++) {
    pace.waits()
    vi.advanceTimersByTime(everyMs)
    pace.came(bytes)
  }
}

test('lets a steady body take as long as it needs', () => {
  send(10_000, 60, 499)
  expect(slow).toBe(0)
})

test('treats a body that stalls or drips as too slow', () => {
  pace.waits()
  vi.advanceTimersByTime(999)
  expect(slow).toBe(0)
  vi.advanceTimersByTime(1)
  expect(slow).toBe(1)
  pace.came(1_000)
  send(9, 10, 100)
  expect(slow).toBe(1)
  pace.waits()
  vi.advanceTimersByTime(101)
  expect(slow).toBe(2)
})

test('does not count time in which the host does not read', () => {
  pace.waits()
  vi.advanceTimersByTime(900)
  pace.came(10)
  vi.advanceTimersByTime(100_000)
  pace.waits()
  vi.advanceTimersByTime(99)
  expect(slow).toBe(0)
  pace.came(10)
  pace.end()
  vi.advanceTimersByTime(100_000)
  expect(slow).toBe(0)
})
