import { expect, test } from 'vitest'
import { nameFaultOf } from '../site.ts'

test('a name has between the minimum and 63 characters', () => {
  expect([nameFaultOf('abc', 4), nameFaultOf('abc', 3), nameFaultOf('abcd', 4)]).toEqual([
    'must be at least 4 characters',
    undefined,
    undefined,
  ])
  expect([nameFaultOf('a'.repeat(63), 4), nameFaultOf('a'.repeat(64), 4)]).toEqual([
    undefined,
    'must be at most 63 characters',
  ])
})
