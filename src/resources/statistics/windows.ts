import Type from 'typebox'
import { DAY_MS } from '../../platform/durations.ts'

/** The spans of days for which page views are summed up. */
export const windowNames = [
  'today',
  'yesterday',
  'currentMonth',
  'lastMonth',
  'twoMonthsAgo',
  'lastOneYear',
  'lastTwoYears',
  'allTime',
] as const
export type WindowName = (typeof windowNames)[number]

/** Days since 1970, both inclusive. */
export interface Window {
  readonly from: number
  readonly to: number
}

/**
 * Returns the windows at a moment, in UTC. Months are calendar months. The last year begins on the day after the same
 * date a year ago (29 February counts as 1 March).
 */
export function windowsAt(nowMs: number): Record<WindowName, Window> {
  const now = new Date(nowMs)
  const [year, month, date] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()]
  const day = (...parts: [number, number, number]): number => Math.floor(Date.UTC(...parts) / DAY_MS)
  const today = day(year, month, date)
  const monthAgo = (months: number): Window => ({
    from: day(year, month - months, 1),
    to: Math.min(today, day(year, month - months + 1, 1) - 1),
  })
  return {
    today: { from: today, to: today },
    yesterday: { from: today - 1, to: today - 1 },
    currentMonth: monthAgo(0),
    lastMonth: monthAgo(1),
    twoMonthsAgo: monthAgo(2),
    lastOneYear: { from: day(year - 1, month, date) + 1, to: today },
    lastTwoYears: { from: day(year - 2, month, date) + 1, to: today },
    allTime: { from: 0, to: today },
  }
}

const Views = Type.Object(
  {
    people: Type.Integer({ description: 'Unique visitors of each day', examples: [128] }),
    views: Type.Integer({ description: 'Page views', examples: [512] }),
  },
  { title: 'Views' },
)
type Views = Type.Static<typeof Views>

/** The page views in account and site detail. */
export const PageViews = Type.Object(
  {
    allTime: Views,
    lastTwoYearsIsAllTime: Views,
    currentMonth: Views,
    lastMonth: Views,
    today: Views,
    twoMonthsAgo: Views,
    yesterday: Views,
  },
  { title: 'PageViews' },
)

/** The page views in site statistics. */
export const StatisticsPageViews = Type.Object(
  {
    today: Views,
    yesterday: Views,
    currentMonth: Views,
    lastMonth: Views,
    twoMonthsAgo: Views,
    lastOneYear: Views,
    lastTwoYears: Views,
  },
  { title: 'StatisticsPageViews' },
)

/** Visitors and views by window, as stored. */
export type Sums = Readonly<Record<WindowName, readonly [people: number, views: number]>>

const none: Sums = Object.fromEntries(windowNames.map((name) => [name, [0, 0]])) as never

/** @param stored JSON, or undefined if nothing was summed up yet */
export const readSums = (stored: string | null | undefined): Sums =>
  stored ? { ...none, ...JSON.parse(stored) } : none

export const addSums = (left: Sums, right: Sums): Sums =>
  Object.fromEntries(
    windowNames.map((name) => [name, [left[name][0] + right[name][0], left[name][1] + right[name][1]]]),
  ) as never

/** The windows that include today. */
const openWindows = ['today', 'currentMonth', 'lastOneYear', 'lastTwoYears', 'allTime'] as const

/**
 * Adds today's new views to the sums.
 * @param added visitors and views since the last refresh
 */
export function addToday(sums: Sums, [people, count]: readonly [number, number]): Sums {
  const open = openWindows.map((name) => [name, [sums[name][0] + people, sums[name][1] + count]])
  return { ...sums, ...Object.fromEntries(open) }
}

const views = ([people, count]: readonly [number, number]): Views => ({ people, views: count })

/** Presents the page views object of account and site detail. */
export function detailPageViews(sums: Sums): Type.Static<typeof PageViews> {
  return {
    allTime: views(sums.allTime),
    // Visitors are counted for the last two years only, even in the total.
    lastTwoYearsIsAllTime: views(sums.lastTwoYears),
    currentMonth: views(sums.currentMonth),
    lastMonth: views(sums.lastMonth),
    today: views(sums.today),
    twoMonthsAgo: views(sums.twoMonthsAgo),
    yesterday: views(sums.yesterday),
  }
}

/** Presents the page views object of site statistics. */
export function statisticsPageViews(sums: Sums): Type.Static<typeof StatisticsPageViews> {
  return {
    today: views(sums.today),
    yesterday: views(sums.yesterday),
    currentMonth: views(sums.currentMonth),
    lastMonth: views(sums.lastMonth),
    twoMonthsAgo: views(sums.twoMonthsAgo),
    lastOneYear: views(sums.lastOneYear),
    lastTwoYears: views(sums.lastTwoYears),
  }
}
