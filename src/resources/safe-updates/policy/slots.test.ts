import { describe, expect, test } from 'vitest'
import { describePolicy, effectivePolicy, usualPolicy, usualSitePolicy } from './policy.ts'
import { nextSlot, timeZoneOf } from './slots.ts'

const daily = (hour: number, timeZone: string) => ({ ...usualPolicy, mode: 'daily' as const, hour, timeZone })
const nextAfter = (policy: Parameters<typeof nextSlot>[0], at: string): string =>
  new Date(nextSlot(policy, Date.parse(at)) as number).toISOString()

describe('the times of an update policy', () => {
  test('are at the hour of its time zone, once a day', () => {
    expect(nextAfter(daily(3, 'UTC'), '2026-02-01T02:59:59.999Z')).toBe('2026-02-01T03:00:00.000Z')
    expect(nextAfter(daily(3, 'UTC'), '2026-02-01T03:00:00.000Z')).toBe('2026-02-02T03:00:00.000Z')
    expect(nextAfter(daily(0, 'Asia/Kolkata'), '2026-02-01T12:00:00Z')).toBe('2026-02-01T18:30:00.000Z')
    expect(nextAfter(daily(23, 'Pacific/Auckland'), '2026-02-01T12:00:00Z')).toBe('2026-02-02T10:00:00.000Z')
    expect(nextAfter(daily(9, 'America/Los_Angeles'), '2026-02-01T16:00:00Z')).toBe('2026-02-01T17:00:00.000Z')
    expect(nextSlot(usualPolicy, 0)).toBeNull()
  })

  test('are on the weekday of its time zone', () => {
    const weekly = { ...daily(1, 'Asia/Tokyo'), mode: 'weekly' as const, weekday: 'monday' as const }
    // Monday in Tokyo begins on Sunday, UTC.
    expect(nextAfter(weekly, '2026-02-01T00:00:00Z')).toBe('2026-02-01T16:00:00.000Z')
    expect(nextAfter(weekly, '2026-02-01T16:00:00Z')).toBe('2026-02-08T16:00:00.000Z')
    expect(nextAfter({ ...weekly, mode: 'security' }, '2026-02-01T16:00:00Z')).toBe('2026-02-02T16:00:00.000Z')
  })

  test('stay at the hour of the wall clock when it changes', () => {
    const policy = daily(4, 'Europe/Berlin')
    expect(nextAfter(policy, '2026-03-28T00:00:00Z')).toBe('2026-03-28T03:00:00.000Z')
    expect(nextAfter(policy, '2026-03-28T12:00:00Z')).toBe('2026-03-29T02:00:00.000Z')
    expect(nextAfter(policy, '2026-10-24T12:00:00Z')).toBe('2026-10-25T03:00:00.000Z')
    const weekly = { ...policy, mode: 'weekly' as const }
    expect(nextAfter(weekly, '2026-03-23T00:00:00Z')).toBe('2026-03-29T02:00:00.000Z')
  })

  test('are once a day when the clock skips the hour, or shows it twice', () => {
    const policy = daily(2, 'Europe/Berlin')
    // 02:00 does not exist on this day, and 03:00 is 01:00 UTC.
    expect(nextAfter(policy, '2026-03-28T12:00:00Z')).toBe('2026-03-29T01:00:00.000Z')
    expect(nextAfter(policy, '2026-03-29T01:00:00Z')).toBe('2026-03-30T00:00:00.000Z')
    // 02:00 is at 00:00 UTC, and again at 01:00 UTC.
    expect(nextAfter(policy, '2026-10-24T12:00:00Z')).toBe('2026-10-25T00:00:00.000Z')
    expect(nextAfter(policy, '2026-10-25T00:00:00Z')).toBe('2026-10-26T01:00:00.000Z')
    expect(nextAfter(daily(2, 'America/New_York'), '2026-11-01T05:00:00Z')).toBe('2026-11-01T07:00:00.000Z')
    expect(nextAfter(daily(1, 'America/New_York'), '2026-11-01T04:00:00Z')).toBe('2026-11-01T05:00:00.000Z')
    // A clock that changes by half an hour.
    expect(nextAfter(daily(2, 'Australia/Lord_Howe'), '2026-10-03T00:00:00Z')).toBe('2026-10-03T15:30:00.000Z')
  })

  test('come in each zone and at each hour of a year, one a day', () => {
    for (const zone of ['Europe/Berlin', 'America/Santiago', 'Asia/Beirut', 'Africa/Cairo', 'Pacific/Chatham'])
      for (const hour of [0, 1, 2, 3, 23]) {
        const policy = daily(hour, zone)
        let at = Date.parse('2026-01-01T00:00:00Z')
        const end = Date.parse('2027-01-01T00:00:00Z')
        let count = 0
        for (; at < end; count++) {
          const next = nextSlot(policy, at) as number
          expect(nextSlot(policy, next - 1)).toBe(next)
          expect(next - at).toBeLessThanOrEqual(25 * 3_600_000)
          at = next
        }
        expect([zone, hour, Math.abs(count - 365) <= 1]).toEqual([zone, hour, true])
      }
  })

  test('are those of UTC if the zone is unknown to this Stead', () => {
    expect(nextAfter(daily(3, 'Mars/Olympus'), '2026-02-01T00:00:00Z')).toBe('2026-02-01T03:00:00.000Z')
  })
})

test('time zones have names, in their usual spelling', () => {
  expect([timeZoneOf('europe/berlin'), timeZoneOf('utc')]).toEqual(['Europe/Berlin', 'UTC'])
  for (const name of ['+02:00', 'Mars/Olympus', '', ' UTC', 'UTC\0', '../../etc/passwd'])
    expect([name, timeZoneOf(name)]).toEqual([name, undefined])
})

test('a site that inherits leaves out what either policy leaves out, and another one what its own does', () => {
  const usual = { ...usualPolicy, mode: 'daily' as const, exclude: ['shop', 'forms'] }
  const effective = effectivePolicy({ ...usualSitePolicy, hour: 9, exclude: ['forms', 'mail'] }, usual)
  expect(effective).toEqual({ ...usual, exclude: ['shop', 'forms', 'mail'] })
  const own = { ...usualSitePolicy, mode: 'weekly' as const, exclude: ['mail'] }
  expect(effectivePolicy(own, usual)).toEqual(own)
})

test('policies are described', () => {
  const describe = (mode: 'off' | 'inherit' | 'security' | 'weekly' | 'daily') =>
    describePolicy({ ...usualSitePolicy, mode, timeZone: 'Europe/Berlin' })
  expect([describe('off'), describe('inherit')]).toEqual(['off', 'inherit'])
  expect(describe('security')).toBe('security, daily at 03:00 (Europe/Berlin)')
  expect(describe('weekly')).toBe('weekly, on sunday at 03:00 (Europe/Berlin)')
  expect(describe('daily')).toBe('daily, at 03:00 (Europe/Berlin)')
})
