import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { PhpStarved, PhpTimeout } from './runtime.ts'
import { limitTime } from './time-limit.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** @param share of its time in which the process has no processor though it could compute */
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

test('a process that has the processor, or sleeps, is ended at its limit', () => {
  const { onOver } = limited(0)
  vi.advanceTimersByTime(999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onOver).toHaveBeenCalledExactlyOnceWith(new PhpTimeout('PHP was not ready in time'))
  vi.advanceTimersByTime(60_000)
  expect(onOver).toHaveBeenCalledTimes(1)
})

test('a process that waits for a processor has the more time', () => {
  const { onOver } = limited(0.75)
  vi.advanceTimersByTime(3999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(251)
  expect(onOver.mock.calls[0]?.[0]).not.toBeInstanceOf(PhpStarved)
})

test('one that gets none at all is ended too in the end, and that is not its fault', () => {
  const { onOver } = limited(1)
  vi.advanceTimersByTime(9999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1000)
  expect(onOver.mock.calls[0]?.[0]).toBeInstanceOf(PhpStarved)
})

test('what turned out to be long has the longer limit, and is ended at that', () => {
  let isLong = false
  const onOver = vi.fn<(error: PhpTimeout) => void>()
  limitTime({ ms: 1000, pid: 1, what: 'it', onOver, longMs: () => (isLong ? 5000 : 0), waitedMs: () => 0 })
  isLong = true
  vi.advanceTimersByTime(4999)
  expect(onOver).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(onOver).toHaveBeenCalledOnce()
})

test('nothing is ended once the limit is lifted', () => {
  const { onOver, lift } = limited(0)
  lift()
  vi.advanceTimersByTime(60_000)
  expect(onOver).not.toHaveBeenCalled()
})

test('what may go on goes on as long as that is said', () => {
  let mayGoOn = true
  const onOver = vi.fn<(error: PhpTimeout) => void>()
  limitTime({ ms: 1000, pid: 1, what: 'PHP did not finish', onOver, mayGoOn: () => mayGoOn, waitedMs: () => 0 })
  vi.advanceTimersByTime(60_000)
  expect(onOver).not.toHaveBeenCalled()
  mayGoOn = false
  vi.advanceTimersByTime(250)
  expect(onOver).toHaveBeenCalledExactlyOnceWith(new PhpTimeout('PHP did not finish in time'))
})
