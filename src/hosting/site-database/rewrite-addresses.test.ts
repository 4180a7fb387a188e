import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressRewriter, rewriteAddress } from './rewrite-addresses.ts'
import { rewriteCases } from './rewrite-cases.fixture.ts'

const from = 'my.localhost:8081'
const there = addressRewriter([{ from, to: 'a-longer-name.example.org' }])
const back = addressRewriter([{ from: 'a-longer-name.example.org', to: from }])

const serialize = (value: Value): string => {
  if (value === null) return 'N;'
  if (typeof value === 'boolean') return `b:${Number(value)};`
  if (typeof value === 'number') return `i:${value};`
  if (typeof value === 'string') return `s:${Buffer.byteLength(value)}:"${value}";`
  if ('nested' in value) return serialize(serialize(value.nested))
  if ('json' in value) return serialize(inJson(value))
  return `a:${value.list.length}:{${value.list.map((each, at) => `i:${at};${serialize(each)}`).join('')}}`
}
type Value = null | boolean | number | string | { list: Value[] } | { nested: Value } | Json
/** A JSON text with a serialized value next to a plain text. `how` is one of the notations of PHP and browsers. */
interface Json {
  json: Value
  beside: string
  how: keyof typeof ways
}
const ways = {
  plain: (json: string) => json,
  'slashes escaped': (json: string) => json.replaceAll('/', '\\/'),
  'in ASCII': (json: string) =>
    json.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  'in a comment': (json: string) => json.replaceAll('\\"', '\\u0022').replaceAll('&', '\\u0026'),
} as const
const inJson = ({ json, beside, how }: Json): string => ways[how](JSON.stringify({ a: serialize(json), b: [beside] }))

/** Reads what {@link serialize} writes, byte for byte, as PHP does. */
function unserialize(bytes: Buffer): Value {
  let at = 0
  const until = (end: string): string => {
    const stop = bytes.indexOf(end, at)
    const text = bytes.toString('latin1', at, stop)
    at = stop + end.length
    return text
  }
  const read = (): Value => {
    const [type] = until(bytes[at] === 0x4e ? ';' : ':')
    if (type === 'N') return null
    if (type === 'b') return until(';') === '1'
    if (type === 'i') return Number(until(';'))
    if (type === 's') {
      const length = Number(until(':"'))
      const text = bytes.toString('utf8', at, at + length)
      at += length
      expect(bytes.toString('latin1', at, at + 2)).toBe('";')
      at += 2
      return text
    }
    const list = Array.from({ length: Number(until(':{')) }, () => {
      read()
      return read()
    })
    expect(bytes[at++]).toBe('}'.charCodeAt(0))
    return { list }
  }
  const value = read()
  expect(at).toBe(bytes.length)
  return value
}

const address = fc.constantFrom(
  `http://${from}`,
  `//${from}/a`,
  `http:\\/\\/${from}\\/`,
  `http:\\\\\\/\\\\\\/${from}\\\\\\/`,
  `%2F%2F${from.replace(':', '%3A')}%2F`,
  from,
)
const clean = fc.string({ unit: 'binary' }).filter((text) => !/localhost|example/i.test(text) && text.isWellFormed())
const text = fc
  .array(fc.oneof(address, clean, fc.constantFrom(' ', '"', '; ', '}', 'ü🌍', 's:5:"', 'a:1:{')), { maxLength: 6 })
  .map((parts) => parts.join(' '))
const how = fc.constantFrom(...(Object.keys(ways) as (keyof typeof ways)[]))
const { value } = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.constant(null), fc.boolean(), fc.integer(), text),
    fc.array(tie('value'), { maxLength: 4 }).map((list) => ({ list })),
    tie('value').map((nested) => ({ nested })),
    fc.record({ json: tie('value'), beside: fc.oneof(clean, address), how }),
  ),
}))

describe('rewriteAddress', () => {
  for (const { change, values } of rewriteCases)
    for (const [before, after = before] of values)
      test(`${JSON.stringify(before)} with ${change.to}`, () => {
        expect(rewriteAddress(before, [change])).toBe(after)
        expect(rewriteAddress(Buffer.from(before), [change]).toString()).toBe(after)
      })

  test('restores the original when it is applied there and back', () => {
    const before = fc.oneof(text, value.map(serialize))
    const goesThereAndBack = fc.property(before, (each) => {
      expect(back(there(each))).toBe(each)
    })
    fc.assert(goesThereAndBack, { numRuns: 1000 })
  })

  test('keeps serialized values valid, with each text in them rewritten', () => {
    const expected = (each: Value): Value => {
      if (typeof each === 'string') return there(each)
      if (each === null || typeof each !== 'object') return each
      if ('list' in each) return { list: each.list.map(expected) }
      if ('nested' in each) return serialize(expected(each.nested))
      return inJson({ ...each, json: expected(each.json), beside: there(each.beside) })
    }
    fc.assert(
      fc.property(value, (before) => {
        const after = there(Buffer.from(serialize({ list: [before] })))
        expect(unserialize(after)).toEqual({ list: [expected(before)] })
      }),
      { numRuns: 1000 },
    )
  })

  test('keeps the lengths of any value that is serialized in nested JSON, and changes nothing else', () => {
    fc.assert(
      fc.property(value, fc.array(fc.tuple(clean, how), { minLength: 1, maxLength: 3 }), (before, levels) => {
        const wrapped = (inner: string) =>
          levels.reduce((json, [beside, way]) => ways[way](JSON.stringify([beside, json])), inner)
        const after = there(wrapped(serialize({ list: [before] })))
        expect(after).toBe(wrapped(there(serialize({ list: [before] }))))
      }),
      { numRuns: 1000 },
    )
  })

  test('keeps bytes that are not text, and returns the same object if nothing changes', () => {
    const odd = Buffer.from([0, 0xff, 0xc3, 0x28, ...Buffer.from(` http://${from} `), 0xf0, 0x9f])
    const after = Buffer.from([0, 0xff, 0xc3, 0x28, ...Buffer.from(' http://x.org '), 0xf0, 0x9f])
    expect(Buffer.compare(rewriteAddress(odd, [{ from, to: 'x.org' }]), after)).toBe(0)
    expect(rewriteAddress(odd, [{ from: 'other.localhost', to: 'x.org' }])).toBe(odd)
    expect(rewriteAddress(odd, [])).toBe(odd)
  })

  test('makes all changes at once: two addresses swap places', () => {
    const changes = [
      { from: 'a.localhost', to: 'b.localhost' },
      { from: 'b.localhost', to: 'a.localhost' },
      { from: 'www.a.localhost', to: 'b.localhost' },
    ]
    expect(rewriteAddress('http://a.localhost http://b.localhost http://www.a.localhost', changes)).toBe(
      'http://b.localhost http://a.localhost http://b.localhost',
    )
  })

  test('writes a name that is not ASCII in bytes', () => {
    const inside = `s:24:"http://${from}";`
    expect(rewriteAddress(inside, [{ from, to: 'länger.example.org' }])).toBe('s:26:"http://länger.example.org";')
  })

  test('handles values that are built to be slow or deep, or leaves them unchanged', () => {
    const deep = 200_000
    const nested = `${'a:1:{i:0;'.repeat(deep)}s:24:"http://${from}";${'}'.repeat(deep)}`
    expect(rewriteAddress(nested, [{ from, to: 'x.org' }])).toContain('s:12:"http://x.org";')
    let within = `http://${from}`
    for (let level = 0; level < 200; level++) within = serialize(within)
    expect(rewriteAddress(within, [{ from, to: 'x.org' }])).toBe(within)
    const quotes = `${'{"[\\"s:1:\\'.repeat(50_000)} http://${from} ${'"s:1:\\"'.repeat(50_000)}`
    expect(rewriteAddress(quotes, [{ from, to: 'x.org' }])).toContain('//x.org')
    const many = JSON.stringify(Array.from({ length: 50_000 }, () => serialize(`http://${from}`)))
    expect(rewriteAddress(many, [{ from, to: 'x.org' }])).toBe(
      JSON.stringify(Array.from({ length: 50_000 }, () => serialize('http://x.org'))),
    )
    const slow = `${'\\'.repeat(300_000)} http://${from}${'.'.repeat(300_000)} ${'%25'.repeat(100_000)}`
    expect(rewriteAddress(slow, [{ from, to: 'x.org' }])).toBe(slow.replace(from, 'x.org'))
  })
})
