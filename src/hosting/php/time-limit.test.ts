import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PhpStarved, PhpTimeout } from './runtime.ts'
import { limitTime } from './time-limit.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** @param share the part of its time in which the process is ready to run without a processor */
function limited(share: number) {
  const begun = performance.now()
  const onOver = vi.fn<(error: PhpTimeout) => void>()
  const lift = limitTime({
    ms: 1000,
    pid: 1,
    what: 'PHP was not ready',
    onOver,
    waitedMs: () => (performance.now() - begun) * share,
  })
  return { onOver, lift }
}

test('ends a process that runs or sleeps at its limit', () => {
  const { onOver } = limited(0)
  vi.advanceTimersByTime(999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onOver).toHaveBeenCalledExactlyOnceWith(new PhpTimeout('PHP was not ready in time'))
  vi.advanceTimersByTime(60_000)
  expect(onOver).toHaveBeenCalledTimes(1)
})

test('gives a process that waits for a processor that much more time', () => {
  const { onOver } = limited(0.75)
  vi.advanceTimersByTime(3999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(251)
  expect(onOver.mock.calls[0]?.[0]).not.toBeInstanceOf(PhpStarved)
})

test('ends a process that never gets a processor, without blaming it', () => {
  const { onOver } = limited(1)
  vi.advanceTimersByTime(9999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(onOver.mock.calls[0]?.[0]).toBeInstanceOf(PhpStarved)
})

test('applies the longer limit to what turned out to be long', () => {
  let isLong = false
  const onOver = vi.fn<(error: PhpTimeout) => void>()
  limitTime({ ms: 1000, pid: 1, what: 'it', onOver, longMs: () => (isLong ? 5000 : 0), waitedMs: () => 0 })
  isLong = true
  vi.advanceTimersByTime(4999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onOver).toHaveBeenCalledOnce()
})

test('ends nothing after the limit is lifted', () => {
  const { onOver, lift } = limited(0)
  lift()
  vi.advanceTimersByTime(60_000)
  expect(onOver).not.toHaveBeenCalled()
})

test('lets a process continue as long as the caller allows it', () => {
  let mayGoOn = true
  const onOver = vi.fn<(error: PhpTimeout) => void>()
  limitTime({ ms: 1000, pid: 1, what: 'PHP did not finish', onOver, mayGoOn: () => mayGoOn, waitedMs: () => 0 })
  vi.advanceTimersByTime(60_000)
  expect(onOver).not.toHaveBeenCalled()
  mayGoOn = false
  vi.advanceTimersByTime(250)
  expect(onOver).toHaveBeenCalledExactlyOnceWith(new PhpTimeout('PHP did not finish in time'))
})
