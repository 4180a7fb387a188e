import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readAtMost } from './read-at-most.ts'

test('what comes is there as a whole; of more than that nothing, and the rest is not read', async () => {
  const pieces = (...texts: string[]) => Readable.from(texts.map((text) => Buffer.from(text)))
  expect(String(await readAtMost(pieces('abc', 'de'), 5))).toBe('abcde')
  expect(String(await readAtMost(pieces(), 5))).toBe('')
  const longer = pieces('abc', 'def', 'ghi')
  expect(await readAtMost(longer, 5)).toBeUndefined()
  expect(longer.destroyed).toBe(true)
})
