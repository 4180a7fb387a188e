/**
 * Reads `Retry-After` (RFC 9110 §10.2.3): seconds or a date.
 * @returns milliseconds, at least 0, or undefined if the header is absent or invalid
 */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (!header) return undefined
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000
  // `Date.parse` alone accepts `-5` and `1.5`.
  const at = /^[A-Z][a-z]{2},? /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
