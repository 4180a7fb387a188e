import { expect, test } from 'vitest'
import { windowsAt } from './windows.ts'

const DAY_MS = 86_400_000
const spans = (now: string) =>
  Object.fromEntries(
    Object.entries(windowsAt(Date.parse(now))).map(([name, { from, to }]) => [
      name,
      [from, to].map((day) => new Date(day * DAY_MS).toISOString().slice(0, 10)).join(' '),
    ]),
  )

test('windows in the middle of a year', () => {
  expect(spans('2026-11-21T13:14:15Z')).toEqual({
    today: '2026-11-21 2026-11-21',
    yesterday: '2026-11-20 2026-11-20',
    currentMonth: '2026-11-01 2026-11-21',
    lastMonth: '2026-10-01 2026-10-31',
    twoMonthsAgo: '2026-09-01 2026-09-30',
    lastOneYear: '2025-11-22 2026-11-21',
    lastTwoYears: '2024-11-22 2026-11-21',
    allTime: '1970-01-01 2026-11-21',
  })
})

test('windows at the edges of months and years, in UTC', () => {
  expect(spans('2027-01-01T00:00:00.000Z')).toMatchObject({
    today: '2027-01-01 2027-01-01',
    yesterday: '2026-12-31 2026-12-31',
    currentMonth: '2027-01-01 2027-01-01',
    lastMonth: '2026-12-01 2026-12-31',
    twoMonthsAgo: '2026-11-01 2026-11-30',
    lastOneYear: '2026-01-02 2027-01-01',
  })
  expect(spans('2026-12-31T23:59:59.999Z')).toMatchObject({
    today: '2026-12-31 2026-12-31',
    lastMonth: '2026-11-01 2026-11-30',
  })
  expect(spans('2026-03-31T12:00:00Z')).toMatchObject({
    lastMonth: '2026-02-01 2026-02-28',
    twoMonthsAgo: '2026-01-01 2026-01-31',
  })
})

test('treat leap days like other days', () => {
  expect(spans('2028-02-29T12:00:00Z')).toMatchObject({
    currentMonth: '2028-02-01 2028-02-29',
    lastOneYear: '2027-03-02 2028-02-29',
    lastTwoYears: '2026-03-02 2028-02-29',
  })
  expect(spans('2028-03-01T00:00:00Z')).toMatchObject({
    yesterday: '2028-02-29 2028-02-29',
    lastMonth: '2028-02-01 2028-02-29',
  })
})
