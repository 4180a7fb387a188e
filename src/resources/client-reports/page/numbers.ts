/* How reports write numbers and times. */

export const number = (value: number): string => value.toLocaleString('en')

/** Returns a day, such as `3 October 2026`. */
export const dayText = (iso: string): string =>
  new Date(iso).toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric', timeZone: 'UTC' })

/** Returns a day of the month, such as `3 Oct`. */
export const shortDay = (iso: string): string =>
  new Date(iso).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

/** Returns a moment of the month, such as `3 Oct, 14:05`. */
export const momentText = (iso: string): string => `${shortDay(iso)}, ${iso.slice(11, 16)}`

export function lasted(beganAt: string, endedAt: string | null): string {
  if (endedAt === null) return 'Still down'
  const minutes = Math.max(1, Math.round((Date.parse(endedAt) - Date.parse(beganAt)) / 60_000))
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} hours`
}

/** Compares visits with those of the month before. */
export function compared(now: number, before: number | null): string {
  if (before === null || before === 0) return ''
  const percent = Math.round(((now - before) / before) * 100)
  if (percent === 0) return 'As many visits as in the month before.'
  return `${number(Math.abs(percent))} % ${percent > 0 ? 'more' : 'fewer'} visits than in the month before.`
}
