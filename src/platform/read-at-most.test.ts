import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readAtMost } from './read-at-most.ts'

test('returns everything within the limit, nothing beyond it, and does not read the rest', async () => {
  const pieces = (...texts: string[]) => Readable.from(texts.map((text) => Buffer.from(text)))
  expect(String(await readAtMost(pieces('abc', 'de'), 5))).toBe('abcde')
  expect(String(await readAtMost(pieces(), 5))).toBe('')
  const longer = pieces('abc', 'def', 'ghi')
  expect(await readAtMost(longer, 5)).toBeUndefined()
  expect(longer.destroyed).toBe(true)
})
