import { expect, test } from 'vitest'
import { der, oid, time } from './der.ts'

test.each([
  [0, '0400'],
  [127, '047f'],
  [128, '048180'],
  [255, '0481ff'],
  [256, '04820100'],
  [65_535, '0482ffff'],
])('encodes the length of %i bytes in the shortest form', (length, expected) => {
  const made = der(0x04, Buffer.alloc(length))
  expect(made.subarray(0, made.length - length).toString('hex')).toBe(expected)
})

test.each([
  ['2.5.29.19', '0603551d13'],
  ['1.2.840.10045.4.3.2', '06082a8648ce3d040302'],
  ['1.3.6.1.5.5.7.3.1', '06082b06010505070301'],
])('encodes the identifier %s', (dotted, expected) => {
  expect(oid(dotted).toString('hex')).toBe(expected)
})

test.each([
  ['2026-11-24T03:04:05.678Z', 0x17, '261124030405Z'],
  ['2049-12-31T23:59:59.999Z', 0x17, '491231235959Z'],
  ['2050-01-01T00:00:00.000Z', 0x18, '20500101000000Z'],
])('encodes the time %s', (iso, tag, text) => {
  const made = time(Date.parse(iso))
  expect([made[0], made.subarray(2).toString()]).toEqual([tag, text])
})
