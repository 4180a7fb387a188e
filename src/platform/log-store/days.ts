import { DAY_MS } from '../durations.ts'

/** Returns the number of the UTC day (days since 1970). */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)

/** Returns a name such as `2026-11-21`. */
export const dayName = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** How far the clock of another machine, or a site's own timestamp, may be ahead. */
export const AHEAD_MS = DAY_MS

/**
 * Yields the days that a page may have entries of, newest first. These are only days that are kept, whatever the query.
 */
export function* daysOf(
  query: { before: { atMs: number }; sinceMs: number },
  retentionDays: number,
): Generator<number> {
  yield* daysSince(query.sinceMs, retentionDays, query.before.atMs)
}

/** Yields the days that may have entries of this time or later, newest first. */
export function* daysSince(
  sinceMs: number,
  retentionDays: number,
  beforeMs = Number.POSITIVE_INFINITY,
): Generator<number> {
  const nowMs = Date.now()
  const first = Math.max(dayOf(sinceMs), dayOf(nowMs) - retentionDays)
  for (let day = dayOf(Math.min(beforeMs, nowMs + AHEAD_MS)); day >= first; day--) yield day
}
