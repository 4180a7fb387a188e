import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hold, lapseAfter } from './lapse.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('ends when its time is over, and not before', () => {
  const end = vi.fn()
  lapseAfter(20_000, end)
  vi.advanceTimersByTime(19_999)
  expect(end).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(end).toHaveBeenCalledOnce()
})

test('pauses while anything holds it, and continues with the remaining time', () => {
  const end = vi.fn()
  lapseAfter(20_000, end)
  vi.advanceTimersByTime(8000)
  hold('pointer', true)
  hold('focus', true)
  vi.advanceTimersByTime(3_600_000)
  hold('pointer', false)
  vi.advanceTimersByTime(3_600_000)
  hold('focus', false)
  vi.advanceTimersByTime(11_999)
  expect(end).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(end).toHaveBeenCalledOnce()
})

test('gives a person who looked away five seconds, and holds what arrives meanwhile', () => {
  const [first, second] = [vi.fn(), vi.fn()]
  lapseAfter(8000, first)
  vi.advanceTimersByTime(7999)
  hold('hidden', true)
  lapseAfter(6000, second)
  vi.advanceTimersByTime(60_000)
  hold('hidden', false)
  vi.advanceTimersByTime(4999)
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 0])
  vi.advanceTimersByTime(1001)
  expect([first.mock.calls.length, second.mock.calls.length]).toEqual([1, 1])
})
