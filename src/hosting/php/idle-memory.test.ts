import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { IdleMemory } from './idle-memory.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('memory that was read while nothing ran is believed for ten seconds, until the next job', () => {
  const memory = new IdleMemory()
  expect(memory.isKnown(0)).toBe(false)
  memory.wasRead(3, true)
  expect(memory.isKnown(3)).toBe(false)
  memory.wasRead(3, false)
  vi.advanceTimersByTime(9999)
  expect(memory.isKnown(3)).toBe(true)
  expect(memory.isKnown(4)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(memory.isKnown(3)).toBe(false)
})
