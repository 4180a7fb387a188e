import { expect, test } from 'vitest'
import { createYieldWhileBusy } from './yield-while-busy.ts'

/** A clock that advances only by work and by waits. */
function clock() {
  let time = 0
  let waited = 0
  let isWanted = true
  const yieldWhileBusy = createYieldWhileBusy({
    isWanted: () => isWanted,
    now: () => time,
    pause: async (ms) => {
      time += ms
      waited += ms
    },
  })
  return {
    want: (is: boolean) => {
      isWanted = is
    },
    /**
     * @returns how long it waited afterwards
     * @param workers how many work together
     */
    async work(ms: number, workers = 1) {
      time += ms
      const before = waited
      await Promise.all(Array.from({ length: workers }, yieldWhileBusy))
      return waited - before
    },
  }
}

test('waits as long as it has worked while others are busy, and no longer', async () => {
  const { work } = clock()
  expect(await work(100)).toBe(100)
  // Short pieces add up.
  expect([await work(3), await work(3)]).toEqual([0, 5])
})

test('makes simultaneous workers wait together', async () => {
  const { work } = clock()
  expect([await work(100, 8), await work(50, 8)]).toEqual([100, 50])
})

test('does not wait without others; its work in the meantime counts later, up to half a second', async () => {
  const { want, work } = clock()
  want(false)
  expect([await work(50), await work(60_000)]).toEqual([0, 0])
  want(true)
  expect(await work(1)).toBe(500)
})
