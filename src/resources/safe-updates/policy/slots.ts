import { DAY_MS } from '../../../platform/durations.ts'
import { declareMemory } from '../../../platform/process-memory.ts'
import { type UpdatePolicy, weekdays } from './policy.ts'

const formats = new Map<string, Intl.DateTimeFormat>()
declareMemory(() => formats.clear())

/** Users can choose known time zones only, which are a few hundred. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = formats.get(timeZone)
  if (known) return known
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone, hourCycle: 'h23', era: 'short', year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  })
  formats.set(timeZone, made)
  return made
}

/** Returns the usual spelling of the name of a time zone, or `undefined` for an unknown one. */
export function timeZoneOf(name: string): string | undefined {
  if (formats.has(name)) return name
  // An offset such as +02:00 has no rules for summer.
  if (!/^[A-Za-z]/.test(name)) return undefined
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

/** Returns the time of a wall clock, as if the wall clock had UTC. */
function wallTime(timeZone: string, at: number): number {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  ) as Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>
  return Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second)
}

/**
 * Returns when a wall clock shows a time: the first time, if it shows it twice. A time that it skips is when it skips
 * it.
 */
function momentOf(timeZone: string, wall: number): number {
  const offsetAt = (at: number) => wallTime(timeZone, at) - at
  const [before, after] = [wall - offsetAt(wall - DAY_MS), wall - offsetAt(wall + DAY_MS)]
  return wallTime(timeZone, before) === wall || wallTime(timeZone, after) !== wall ? before : after
}

/** The days until each weekday has come, and one more for a day that the clock of a time zone skips. */
const DAYS_AHEAD = 9

/** Returns the first time after `after` at which a policy looks for updates. Null: never. */
export function nextSlot(
  { mode, weekday, hour, timeZone: name }: Pick<UpdatePolicy, 'mode' | 'weekday' | 'hour' | 'timeZone'>,
  after: number,
): number | null {
  if (mode === 'off') return null
  // Another version of Node may not know the zone any longer.
  const timeZone = timeZoneOf(name) ?? 'UTC'
  const today = Math.floor(wallTime(timeZone, after) / DAY_MS) * DAY_MS
  for (let day = -1; day <= DAYS_AHEAD; day++) {
    const date = today + day * DAY_MS
    if (mode === 'weekly' && weekdays[new Date(date).getUTCDay()] !== weekday) continue
    const slot = momentOf(timeZone, date + hour * 3_600_000)
    if (slot > after) return slot
  }
  throw new Error(`no slot within ${DAYS_AHEAD} days`)
}
