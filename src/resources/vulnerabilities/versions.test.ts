import { expect, test } from 'vitest'
import { compareExtensionVersions, isInRanges } from './versions.ts'

/** What `version_compare` of PHP 8.2 answers. */
const byPhp: readonly (readonly [string, string, number])[] = [
  ['1.0', '1.0', 0],
  ['1.0', '1.0.0', -1],
  ['1.0', '1', 1],
  ['5.3.2', '5.10', -1],
  ['1.0rc1', '1.0', -1],
  ['1.0-beta', '1.0', -1],
  ['1.0a', '1.0alpha', 0],
  ['1.0alpha3', '1.0beta1', -1],
  ['1.0.dev', '1.0.1', -1],
  ['1.0RC1', '1.0rc1', 0],
  ['1.0ALPHA', '1.0alpha', -1],
  ['1.0pl1', '1.0', 1],
  ['1.0p1', '1.0', 1],
  ['1.0foo', '1.0', -1],
  ['1.0foo', '1.0dev', -1],
  ['1.0x', '1.0y', 0],
  ['1.0-1', '1.0', 1],
  ['1.0 beta 2', '1.0 beta 10', -1],
  ['v1', '1', -1],
  ['', '1', -1],
]

test.each(byPhp)('%s and %s', (one, other, order) => {
  expect(Math.sign(compareExtensionVersions(one, other))).toBe(order)
  expect(Math.sign(compareExtensionVersions(other, one)) + order).toBe(0)
})

test('a range has an end or none, which belongs to it or not', () => {
  const range = { from: '1.0', includesFrom: true, to: '2.0', includesTo: false }
  const inside = (version: string, more: object = {}) => isInRanges(version, [{ ...range, ...more }])
  expect(['0.9', '1.0', '1.5', '2.0', '2.1'].filter((version) => inside(version))).toEqual(['1.0', '1.5'])
  expect([inside('1.0', { includesFrom: false }), inside('2.0', { includesTo: true })]).toEqual([false, true])
  expect([inside('0.1', { from: null }), inside('99', { to: null })]).toEqual([true, true])
  expect(isInRanges('1.0', [])).toBe(false)
})
