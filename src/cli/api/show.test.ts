import { describe, expect, test } from 'vitest'
import { newOnes } from './print-log.ts'
import { jsonOf, show, valueAt } from './show.ts'

const terminal = (columns: number) => ({ isTTY: true, columns, write: () => true })
const pipe = { write: () => true }
const sites = [
  { created: '2026-01-31', id: 1, tags: [{ id: 1, name: 'shop' }], name: 'first', url: 'first.localhost:8081' },
  { created: '2026-02-01', id: 12, tags: [], name: 'a-much-longer-name', url: 'x' },
]

describe('a list', () => {
  test('has on a terminal as many columns as fit, the most useful first', () => {
    expect(show(sites, terminal(40))).toBe(['ID  NAME', '1   first', '12  a-much-longer-name'].join('\n'))
    expect(show(sites, terminal(80))).toBe(
      [
        'ID  NAME                URL                   CREATED     TAGS',
        '1   first               first.localhost:8081  2026-01-31  shop',
        '12  a-much-longer-name  x                     2026-02-01',
      ].join('\n'),
    )
  })

  test('has in a pipe all columns, separated by tabs, and nothing cut off', () => {
    const name = 'n'.repeat(200)
    expect(show([{ id: 1, name }], pipe)).toBe(`id\tname\n1\t${name}`)
    expect(show([{ id: 1, name }], terminal(80)).split('\n')[1]).toBe(`1   ${'n'.repeat(49)}…`)
  })

  test('has the requested fields, including nested ones', () => {
    expect(show(sites, pipe, ['name', 'tags.0.name'])).toBe('name\ttags.0.name\nfirst\tshop\na-much-longer-name\t')
  })

  test('may be empty', () => {
    expect([show([], terminal(80)), show([], pipe)]).toEqual(['(none)', ''])
  })
})

test('shows one thing with a line for each field, and tables below', () => {
  const zone = { id: 1, name: 'example.com', usage: { of: 2 }, records: [{ id: 1, type: 'A' }] }
  expect(show(zone, pipe)).toBe(
    ['id        1', 'name      example.com', 'usage.of  2', '', 'records:', 'id\ttype', '1\tA'].join('\n'),
  )
})

test('replaces control characters that a visitor or a site may have written', () => {
  const hostile = 'a\u001b]0;b\u0007\u009b2J\u202ec'
  for (const text of [show([{ hostile }], pipe), show({ hostile }, pipe), show(hostile, pipe), jsonOf({ hostile })])
    expect(text).not.toMatch(/(?!\n)\p{Cc}/u)
  expect(JSON.parse(jsonOf({ hostile }))).toEqual({ hostile })
})

test('finds a nested field', () => {
  const value = { a: { b: [{ c: null }] } }
  expect([valueAt(value, 'a.b.0.c'), valueAt(value, 'a.x.y'), valueAt(value, 'constructor')]).toEqual([
    null,
    undefined,
    undefined,
  ])
})

test.each([
  [[3, 2, 1], [], [3, 2, 1]],
  [[3, 2, 1], [2, 1], [3]],
  [[2, 1], [2, 1], []],
  [
    [2, 2, 2, 1],
    [2, 1],
    [2, 2],
  ],
  [
    [9, 8],
    [2, 1],
    [9, 8],
  ],
])('with newest first, %j after %j: %j are new', (entries, last, expected) => {
  expect(newOnes(entries, last)).toEqual(expected)
})
