const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Between one attempt and the next. */
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

/** A receiver that asks for more time gets no more than that. */
const MOST_WAIT_MS = 24 * HOUR
/** Of each pause, so that what failed together does not come back together. */
const JITTER = 0.1

/**
 * @param attempts that were made
 * @param askedMs what the receiver has asked for
 * @returns milliseconds until the next one; undefined: there is none
 */
export function retryDelay(attempts: number, askedMs = 0, random = Math.random()): number | undefined {
  const planned = RETRY_AFTER_MS[attempts - 1]
  if (planned === undefined) return undefined
  return Math.round(Math.max(planned, Math.min(askedMs, MOST_WAIT_MS)) * (1 + JITTER * random))
}

/** Reads `Retry-After` (RFC 9110 §10.2.3): seconds or a date. @returns milliseconds; 0 for what is neither */
export function retryAfterMs(header: string | undefined, nowMs: number): number {
  if (!header) return 0
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * SECOND
  const at = /^[A-Z][a-z]{2},? /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? 0 : Math.max(0, at - nowMs)
}
