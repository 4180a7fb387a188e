import { expect, test } from 'vitest'
import { batches } from './batches.ts'

test.each([
  [[], []],
  [[1, 2], [[1, 2]]],
  [
    [1, 2, 3, 4],
    [
      [1, 2],
      [3, 4],
    ],
  ],
  [
    [1, 2, 3],
    [[1, 2], [3]],
  ],
])('%j in lists of two', (items: number[], cut) => {
  expect(batches(items, 2)).toEqual(cut)
})
