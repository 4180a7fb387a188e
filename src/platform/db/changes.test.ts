import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { looksAfterWrites } from './changes.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Looks that find a commit from a moment on, in ms. */
function looked(commitAtMs: number) {
  let nowMs = 0
  const seenAtMs: number[] = []
  let isNew = true
  const looks = looksAfterWrites(() => {
    const isSeen = isNew && nowMs >= commitAtMs
    if (isSeen) {
      isNew = false
      seenAtMs.push(nowMs)
    }
    return isSeen
  })
  const pass = (ms: number) => {
    for (let i = 0; i < ms; i++) {
      nowMs++
      vi.advanceTimersByTime(1)
    }
  }
  const commitAgain = () => {
    isNew = true
  }
  return { looks, seenAtMs, pass, commitAgain }
}

test('a commit that is there some time after the last write to the log is seen without another one', () => {
  for (const commitAtMs of [1, 3, 9, 30, 100, 150]) {
    const { looks, seenAtMs, pass } = looked(commitAtMs)
    looks.written()
    pass(250)
    expect(seenAtMs.length).toBe(1)
    expect((seenAtMs[0] as number) - commitAtMs).toBeLessThanOrEqual(commitAtMs + 2)
    expect(vi.getTimerCount()).toBe(0)
  }
})

test('writes without end put no look off, and a later write is looked for from the start', () => {
  const { looks, seenAtMs, pass, commitAgain } = looked(0)
  for (let i = 0; i < 10; i++) {
    looks.written()
    pass(1)
  }
  expect(seenAtMs).toEqual([2])
  pass(30)
  commitAgain()
  looks.written()
  pass(2)
  expect(seenAtMs.length).toBe(2)
})

test('after the end nothing is looked for', () => {
  const { looks, seenAtMs, pass } = looked(0)
  looks.written()
  looks.close()
  pass(250)
  expect(seenAtMs).toEqual([])
})
