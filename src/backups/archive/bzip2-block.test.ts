import { execFileSync, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bzip2Block, MOST_OF_BLOCK } from './bzip2-block.ts'
import { Bzip2Stream } from './bzip2-stream.ts'

const hasProgram = spawnSync('bzip2', ['--help']).status === 0
const options = { maxBuffer: 1 << 26 }
const program = (input: Uint8Array) => execFileSync('bzip2', ['-9', '-c'], { ...options, input })
const unpacked = (input: Uint8Array) => execFileSync('bzip2', ['-d', '-c'], { ...options, input })

function compressed(...contents: Uint8Array[]): Buffer {
  const stream = new Bzip2Stream()
  const blocks = contents.map((content) => stream.add(bzip2Block(content)))
  return Buffer.concat([stream.head, ...blocks, stream.end()])
}

/** Returns the same bytes in each run. */
function noise(length: number, values = 256, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  let state = seed
  for (let at = 0; at < length; at++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[at] = (state >>> 16) % values
  }
  return bytes
}

const fibonacci = (length: number): Buffer => {
  let [one, other] = ['a', 'ab']
  while (other.length < length) [one, other] = [other, other + one]
  return Buffer.from(other.slice(0, length))
}

const cases: Record<string, Uint8Array> = {
  'a byte': Buffer.from('a'),
  'the shortest run': Buffer.from('aaaa'),
  'a run that one count cannot hold': Buffer.alloc(261, 'a'),
  'all bytes': Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)),
  'a full block of noise': noise(MOST_OF_BLOCK),
  'a full block of what the first step makes longer': Buffer.concat(
    Array.from(noise(MOST_OF_BLOCK / 4, 10), (byte) => Buffer.alloc(4, byte)),
  ),
  'few values': noise(100_000, 3),
  'what repeats itself nearly': fibonacci(300_000),
  text: Buffer.from(
    Array.from({ length: 9000 }, (_, line) => `${line}: The quick brown fox jumps over ${line % 7} dogs.\n`).join(''),
  ),
}

describe.skipIf(!hasProgram)('a block of bzip2, compared with the bzip2 program', () => {
  it.each(Object.entries(cases))('has the same bytes for %s', (_, content) => {
    const ours = compressed(content)
    expect(ours.equals(program(content))).toBe(true)
    expect(unpacked(ours).equals(content)).toBe(true)
  })

  it('has the same bytes for any content', () => {
    const content = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 3000, size: 'max' }),
      fc.uint8Array({ minLength: 1, maxLength: 3000, max: 2, size: 'max' }),
    )
    fc.assert(
      fc.property(content, (bytes) => {
        const ours = compressed(bytes)
        expect(unpacked(ours).equals(bytes)).toBe(true)
        if (!repeatsItself(bytes)) expect(ours.equals(program(bytes))).toBe(true)
      }),
      { numRuns: 60 },
    )
  })

  it.each([
    ['zeros', Buffer.alloc(MOST_OF_BLOCK)],
    ['a word', Buffer.from('abc'.repeat(100_000))],
    ['a run', Buffer.from('aaaab'.repeat(50_000))],
  ])('is readable for content that repeats %s', (_, content) => {
    expect(unpacked(compressed(content)).equals(content)).toBe(true)
  })

  it('follows others in one stream, at whatever bit they end', () => {
    const contents = Array.from({ length: 40 }, (_, each) => noise(50 + 37 * each, 5 + each, each + 1))
    expect(unpacked(compressed(...contents)).equals(Buffer.concat(contents))).toBe(true)
    expect(unpacked(compressed()).length).toBe(0)
  })
})

/** Of equal rotations either may count as the first. Both are readable, but the program chooses differently. */
function repeatsItself(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1')
  // The first step replaces runs, and the result may repeat itself or not.
  return (text + text).indexOf(text, 1) < text.length || /(.)\1{3}/s.test(text)
}

it('always has the same bytes, so that a client can resume a download', () => {
  expect(hash('sha256', compressed(cases.text!, noise(5000)))).toBe(
    '082da52578296149275b075481bec3ac5b57769b44360d67890f4b6f9021787b',
  )
})

it('refuses an empty content, and one that exceeds a block', () => {
  expect(() => bzip2Block(new Uint8Array(MOST_OF_BLOCK + 1))).toThrow(RangeError)
  expect(() => bzip2Block(new Uint8Array(0))).toThrow(RangeError)
})
