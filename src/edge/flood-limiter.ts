/** Whether something still happens seldom enough. */
export type FloodLimiter = () => boolean

/**
 * So many at once, and so many a second after that.
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
