import Type from 'typebox'
import { DAY_MS } from '../../platform/durations.ts'

/** A calendar month in UTC, counted from the year 0: 12 × year + month, January is 0. */
export type Month = number

/** The month in paths. Others than those on offer do not exist. */
export const MonthField = Type.String({
  pattern: '^[0-9]{4}-(0[1-9]|1[0-2])$',
  description: 'Year and month',
  examples: ['2026-10'],
})

/** @param text as {@link MonthField} accepts it */
export const monthNamed = (text: string): Month => Number(text.slice(0, 4)) * 12 + Number(text.slice(5)) - 1

export const monthName = (month: Month): string =>
  `${String(Math.floor(month / 12)).padStart(4, '0')}-${String((month % 12) + 1).padStart(2, '0')}`

/** Returns a name for people, such as `October 2026`. */
export const monthTitle = (month: Month): string =>
  new Date(startOfMonth(month)).toLocaleDateString('en', { month: 'long', year: 'numeric', timeZone: 'UTC' })

export const startOfMonth = (month: Month): number => Date.UTC(Math.floor(month / 12), month % 12, 1)

export function monthOf(ms: number): Month {
  const at = new Date(ms)
  return at.getUTCFullYear() * 12 + at.getUTCMonth()
}

/** A part of a month: the whole, or what has passed of it. */
export interface Span {
  /** Milliseconds UTC. */
  readonly from: number
  /** Exclusive. */
  readonly to: number
  /** Days since 1970, both inclusive. */
  readonly firstDay: number
  readonly lastDay: number
  /** Whether the month has not ended. */
  readonly isOpen: boolean
}

export function spanOf(month: Month, now: number): Span {
  const [from, end] = [startOfMonth(month), startOfMonth(month + 1)]
  const to = Math.min(end, Math.max(now, from + 1))
  return { from, to, firstDay: from / DAY_MS, lastDay: Math.floor((to - 1) / DAY_MS), isOpen: now < end }
}
