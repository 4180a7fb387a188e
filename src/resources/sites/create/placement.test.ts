import { expect, test } from 'vitest'
import { choosePlace, type HostRoom } from './placement.ts'

const datacenters = [
  { code: 'ams', name: 'Amsterdam' },
  { code: 'fra', name: 'Frankfurt' },
] as Parameters<typeof choosePlace>[2]
const host = (id: number, freeSites: number, ...codes: string[]): HostRoom => ({ id, freeSites, datacenters: codes })
const place = (asked: string | undefined, usual: string | null, ...hosts: HostRoom[]) => {
  const { datacenterCode, hostId } = choosePlace(asked, usual, datacenters, hosts)
  return `${datacenterCode} ${hostId}`
}

test('uses the requested datacenter, else the account’s default, else the one with most free places', () => {
  const hosts = [host(1, 5, 'ams'), host(2, 9, 'fra')]
  expect(place('ams', 'fra', ...hosts)).toBe('ams 1')
  expect(place(undefined, 'ams', ...hosts)).toBe('ams 1')
  expect(place(undefined, 'fra', ...hosts)).toBe('fra 2')
  expect(place(undefined, null, ...hosts)).toBe('fra 2')
  // A default that no longer exists is ignored.
  expect(place(undefined, 'lon', ...hosts)).toBe('fra 2')
})

test('chooses the host with most free places, the first among equals, and lets one without a list serve all datacenters', () => {
  expect(place('fra', null, host(1, 5, 'fra'), host(2, 9), host(3, 9, 'fra'))).toBe('fra 2')
  expect(place('fra', null, host(1, 9, 'ams'), host(2, 1, 'fra'))).toBe('fra 2')
})

test('refuses an unknown datacenter, and one without free places', () => {
  expect(() => place('lon', null, host(1, 5))).toThrow('ams, fra')
  expect(() => place('ams', null, host(1, 5, 'fra'), host(2, 0, 'ams'))).toThrow('ams')
  expect(() => place(undefined, null)).toThrow('ams, fra')
  expect(() => place(undefined, null, host(1, 0))).toThrow('ams, fra')
})
