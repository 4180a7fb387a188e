import { describe, expect, it } from 'vitest'
import { decode, lines } from '../test-support.ts'
import { MessageWriter, questionOf } from './message-writer.ts'
import { dnsName, isWithin, labelsOf, parentName, readName, wireOf } from './name.ts'
import { Type } from './protocol.ts'

describe('a name in a message', () => {
  it.each([
    ['a pointer back', '0161000162c000', 3, { name: 'b.a', end: 7, hasPointer: true }],
    ['capital letters', '0341424300', 0, { name: 'abc', end: 5, hasPointer: false }],
    ['a dot in a label', '03612e62', 0, undefined],
    ['a dot in a label, ended', '03612e6200', 0, { name: 'a\\.b', end: 5, hasPointer: false }],
    ['a pointer ahead', 'c00300016100', 0, undefined],
    ['a pointer to itself', 'c000', 0, undefined],
    ['half a pointer', 'c0', 0, undefined],
    ['a kind of label that there is not', '4161', 0, undefined],
    ['nothing', '', 0, undefined],
  ])('is parsed or refused: %s', (_what, hex, offset, expected) => {
    expect(readName(Buffer.from(hex, 'hex'), offset)).toEqual(expected)
  })

  it('has at most 255 bytes', () => {
    const wire = (labels: number) =>
      Buffer.concat([...Array(labels).fill(Buffer.from('\x01a', 'latin1')), Buffer.from([0])])
    expect(readName(wire(127), 0)).toMatchObject({ end: 255 })
    expect(readName(wire(128), 0)).toBeUndefined()
  })
})

describe('a name as text', () => {
  it('has parents and labels, and does not split at a dot in a label', () => {
    expect(parentName('a\\.b.test')).toBe('test')
    expect(labelsOf('a\\.b.te\\\\st')).toEqual(['a.b', 'te\\st'])
    expect(isWithin('a\\.b.test', 'b.test')).toBe(false)
    expect(isWithin('a.b.test', 'b.test')).toBe(true)
    expect(isWithin('ab.test', 'b.test')).toBe(false)
    expect(wireOf('a\\.b').toString('latin1')).toBe('\x03a.b\x00')
  })

  it.each(['a..b', '.a', `${'a'.repeat(64)}.b`, 'ä.b', 'a b', Array(130).fill('a').join('.')])(
    'cannot be %s',
    (text) => {
      expect(() => dnsName(text)).toThrow(RangeError)
    },
  )
})

it('does not point to names of a set that had no room', () => {
  const writer = new MessageWriter()
  writer.begin(questionOf(1, { opcode: 0, isAuthoritative: false }, 'q.test', Type.A), 'q.test', 70)
  const set = (bytes: number) => ({ type: Type.TXT, ttl: 1, targets: [], data: [[Buffer.alloc(bytes, 1)]] })
  expect(writer.addSet('answer', { owner: 'a.b.c', set: set(60) })).toBe(false)
  expect(writer.addSet('answer', { owner: 'b.c', set: set(2) })).toBe(true)
  expect(lines(decode(writer.finish()).answers)[0]).toMatch(/^b\.c TXT /)
})

it('writes names again that are too far back for a pointer', () => {
  const writer = new MessageWriter()
  writer.begin(questionOf(1, { opcode: 0, isAuthoritative: false }, 'q.test', Type.A), 'q.test', 40_000)
  const data = [[Buffer.concat(Array(80).fill(Buffer.alloc(201, 200)))]]
  const large = { type: Type.TXT, ttl: 1, targets: [], data }
  expect(writer.addSet('answer', { owner: 'large.one', set: large })).toBe(true)
  expect(writer.addSet('answer', { owner: 'more', set: large })).toBe(true)
  for (const owner of ['far.away', 'is.far.away'])
    expect(writer.addSet('answer', { owner, set: { ...large, data: [[Buffer.from([0])]] } })).toBe(true)
  expect(decode(writer.finish()).answers?.map(({ name }) => name)).toEqual([
    'large.one',
    'more',
    'far.away',
    'is.far.away',
  ])
})
