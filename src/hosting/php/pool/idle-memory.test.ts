import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { IdleMemory } from './idle-memory.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('trusts memory that was measured while idle for ten seconds, or until the next job', async () => {
  const memory = new IdleMemory()
  const isRead = async (jobs: number, isBusy = false): Promise<boolean> => {
    let wasRead = false
    await memory.readAgain({ jobs, isBusy }, async () => {
      wasRead = true
    })
    return wasRead
  }
  expect(await isRead(3, true)).toBe(true)
  // A busy process may have grown since.
  expect(await isRead(3)).toBe(true)
  vi.advanceTimersByTime(9999)
  expect(await isRead(3)).toBe(false)
  expect(await isRead(4, true)).toBe(true)
  expect(await isRead(3)).toBe(false)
  vi.advanceTimersByTime(1)
  expect(await isRead(3)).toBe(true)
})
