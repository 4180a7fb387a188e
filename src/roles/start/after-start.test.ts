import { performance } from 'node:perf_hooks'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { giveBackAfterStart } from './after-start.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

test('collects once, then stores compiled code, and not while the process is busy', () => {
  let utilization = 0.5
  vi.spyOn(performance, 'eventLoopUtilization').mockImplementation(() => ({ idle: 0, active: 0, utilization }))
  const done: string[] = []
  giveBackAfterStart(
    () => done.push('collect'),
    () => done.push('keep'),
  )
  vi.advanceTimersByTime(60_000)
  expect(done).toEqual([])
  utilization = 0.01
  vi.advanceTimersByTime(60_000)
  expect(done).toEqual(['collect', 'keep'])
})
