import { expect, test } from 'vitest'
import { someOf } from './some-of.ts'

test('the first of many are named, and the others counted', () => {
  expect(someOf([], 2)).toBe('')
  expect(someOf(['a', 'b'], 2)).toBe('a, b')
  expect(someOf(['a', 'b', 'c', 'd'], 2)).toBe('a, b, and 2 more')
  expect(someOf(['a', 'b', 'c'], 2, { between: '; ' })).toBe('a; b; and 1 more')
  expect(someOf(['a', 'b'], 3, { count: 9 })).toBe('a, b, and 7 more')
})
