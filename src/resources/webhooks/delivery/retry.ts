const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Pauses between attempts. */
export const RETRY_AFTER_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const

/** Limit for a receiver that asks for more time. */
const MOST_WAIT_MS = 24 * HOUR
/** Share of each pause, so that deliveries that failed together do not return together. */
const JITTER = 0.1

/**
 * @param attempts number of attempts so far
 * @param askedMs pause that the receiver has requested
 * @returns milliseconds until the next attempt, or undefined if there is none
 */
export function retryDelay(attempts: number, askedMs = 0, random = Math.random()): number | undefined {
  const planned = RETRY_AFTER_MS[attempts - 1]
  if (planned === undefined) return undefined
  return Math.round(Math.max(planned, Math.min(askedMs, MOST_WAIT_MS)) * (1 + JITTER * random))
}
