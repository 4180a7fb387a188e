/** The waits between attempts. */
export interface Backoff {
  readonly firstMs: number
  readonly factor: number
  readonly mostMs: number
}

export const usualBackoff: Backoff = { firstMs: 1000, factor: 3, mostMs: 300_000 }

/**
 * Returns the wait after the given failed attempt (1 for the first). It is between half and all of the exponential
 * step, so that operations that failed together are not retried together.
 * @param random 0 to 1
 */
export function waitAfter(attempt: number, backoff: Backoff, random: number): number {
  const stepMs = Math.min(backoff.mostMs, backoff.firstMs * backoff.factor ** Math.max(0, attempt - 1))
  return Math.round(stepMs * (0.5 + random / 2))
}
