import { expect, it } from 'vitest'
import { LongestPause, WINDOW_MS } from './longest-pause.ts'

it('returns the longest of this minute and the one before, for every reader', () => {
  let now = 0
  const pauses = {
    max: 0,
    reset() {
      this.max = 0
    },
  }
  const longest = new LongestPause(pauses, () => now)
  expect(longest.seconds).toBe(0)
  pauses.max = 1.52e9
  expect([longest.seconds, longest.seconds]).toEqual([1.5, 1.5])
  now = WINDOW_MS
  expect(longest.seconds).toBe(1.5)
  pauses.max = 0.32e9
  expect(longest.seconds).toBe(1.5)
  now = 2 * WINDOW_MS
  expect(longest.seconds).toBe(1.5)
  expect(longest.seconds).toBeCloseTo(0.3)
})

it('detects that this process was blocked', async () => {
  const longest = new LongestPause()
  // Repeatedly, because Node takes its first sample when its timer has fired.
  const holdUp = () => {
    const until = performance.now() + 300
    while (performance.now() < until);
    return longest.seconds
  }
  await expect.poll(holdUp).toBeGreaterThan(0.2)
})
