/** Returns whether something still happens rarely enough. */
export type FloodLimiter = () => boolean

/**
 * Creates a limiter with a burst and a rate per second.
 * @param now monotonic milliseconds
 */
export function createFloodLimiter(
  burst: number,
  perSecond: number,
  now: () => number = () => performance.now(),
): FloodLimiter {
  let left = burst
  let atMs = now()
  return () => {
    const nowMs = now()
    left = Math.min(burst, left + ((nowMs - atMs) / 1000) * perSecond)
    atMs = nowMs
    if (left < 1) return false
    left--
    return true
  }
}
