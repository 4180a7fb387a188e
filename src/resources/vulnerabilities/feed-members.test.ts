import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { atLength } from '../../../test/support/at-length.ts'
import { feedMembers } from './feed-members.ts'

async function* inPieces(text: string, size: number) {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function read(text: string, { size = 3, mostBytes = 1000 } = {}) {
  const found: [string, unknown][] = []
  for await (const member of feedMembers(inPieces(text, size), mostBytes)) found.push(member)
  return found
}

describe('members of a JSON object', () => {
  test('are those that JSON.parse finds, wherever the pieces end', async () => {
    const anything = fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 4 }), {
      noNullPrototype: true,
    })
    await fc.assert(
      fc.asyncProperty(
        anything,
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom(0, 2),
        async (value, size, indent) => {
          const text = JSON.stringify(value, null, indent)
          expect(await read(text, { size, mostBytes: 1e6 })).toEqual(Object.entries(JSON.parse(text)))
        },
      ),
      { numRuns: atLength(40, 1000) },
    )
  })

  test.each([
    ['', 'its end is missing'],
    ['{"a":1', 'its end is missing'],
    ['{"a":1,', 'its end is missing'],
    ['[1]', 'it is not one JSON object'],
    ['<html>', 'it is not one JSON object'],
    ['{"a":1}{"b":2}', 'it is not one JSON object'],
    ['{"a":1} x', 'it is not one JSON object'],
    ['{"a":1,}', undefined],
    ['{,}', 'it is not JSON'],
    ['{"a":}', 'it is not JSON'],
    ['{"a":[1}]}', 'it is not JSON'],
    ['{"a"}', 'it is not JSON'],
    [`{"a":"${'x'.repeat(2000)}"}`, 'a member of it has more than 1000 bytes'],
  ])('%s is refused', async (text, reason) => {
    if (reason) await expect(read(text)).rejects.toThrow(reason)
    // Harmless, and feeds that are written by hand have it.
    else expect(await read(text)).toEqual([['a', 1]])
  })
})
