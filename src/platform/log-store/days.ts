import { DAY_MS } from '../durations.ts'

/** Number of the UTC day (days since 1970). */
export const dayOf = (ms: number): number => Math.floor(ms / DAY_MS)

/** `2026-11-21`. */
export const dayName = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

/** A clock of another machine, or a site's own word for when something happened, may be ahead by so much. */
export const AHEAD_MS = DAY_MS

/** The days that a page may have entries of, newest first: those that are kept, and no others whatever is asked. */
export function* daysOf(
  query: { before: { atMs: number }; sinceMs: number },
  retentionDays: number,
): Generator<number> {
  yield* daysSince(query.sinceMs, retentionDays, query.before.atMs)
}

/** The days that may have entries of this time or later, newest first. */
export function* daysSince(
  sinceMs: number,
  retentionDays: number,
  beforeMs = Number.POSITIVE_INFINITY,
): Generator<number> {
  const nowMs = Date.now()
  const first = Math.max(dayOf(sinceMs), dayOf(nowMs) - retentionDays)
  for (let day = dayOf(Math.min(beforeMs, nowMs + AHEAD_MS)); day >= first; day--) yield day
}
