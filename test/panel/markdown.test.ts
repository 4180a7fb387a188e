/** What people write into notes, as the panel shows it. */
import { expect, test } from 'vitest'
import { inlinesOf, markdownOf } from '../../src/panel/parts/markdown.ts'

test('headings, lists, quotes, code and rules', () => {
  const text =
    '# Whom to call\nAnna, **before** ten.\nOr Ben.\n\n- one\n- two\n1. first\n> said\n\n---\n```php\n<?php # no heading\n```'
  expect(markdownOf(text)).toEqual([
    { kind: 'heading', lines: [['Whom to call']] },
    { kind: 'text', lines: [['Anna, ', { kind: 'strong', parts: ['before'] }, ' ten.'], ['Or Ben.']] },
    { kind: 'list', isOrdered: false, items: [['one'], ['two']] },
    { kind: 'list', isOrdered: true, items: [['first']] },
    { kind: 'quote', lines: [['said']] },
    { kind: 'rule' },
    { kind: 'code', text: '<?php # no heading' },
  ])
})

test('code blocks of others cost no more than their length', () => {
  // The parser looks for the end of each fence from its beginning.
  expect(markdownOf('```\n'.repeat(100_000))).toHaveLength(50_000)
})

test('code that is never closed ends with the note', () => {
  expect(markdownOf('```\na\nb')).toEqual([{ kind: 'code', text: 'a\nb' }])
})

test.each([
  [
    'see [the plan](https://example.com/a_b)',
    ['see ', { kind: 'link', to: 'https://example.com/a_b', parts: ['the plan'] }],
  ],
  ['[mail](mailto:a@example.com)', [{ kind: 'link', to: 'mailto:a@example.com', parts: ['mail'] }]],
  [
    'at https://example.com/x now',
    ['at ', { kind: 'link', to: 'https://example.com/x', parts: ['https://example.com/x'] }, ' now'],
  ],
  [
    'a `**b**` *c* _d_',
    ['a ', { kind: 'code', text: '**b**' }, ' ', { kind: 'em', parts: ['c'] }, ' ', { kind: 'em', parts: ['d'] }],
  ],
  ['snake_case_name 2 * 3 * 4', ['snake_case_name 2 * 3 * 4']],
])('%s', (line, parts) => expect(inlinesOf(line)).toEqual(parts))

test.each(['javascript:alert(1)', 'JAVASCRIPT:alert(1)', 'data:text/html,x', '//example.com', '/v1/session'])(
  'a link to %s is text',
  (address) => expect(inlinesOf(`[x](${address})`).every((part) => typeof part === 'string')).toBe(true),
)

test('HTML is text', () => {
  expect(markdownOf('<img src=x onerror=alert(1)>')).toEqual([
    { kind: 'text', lines: [['<img src=x onerror=alert(1)>']] },
  ])
})

test.each(['[', '*a ', '`', '_a ', '**a ', '[x]('])('many of %s take no longer than as many as they are', (begin) => {
  const spent = (count: number) => {
    const before = process.cpuUsage()
    inlinesOf(begin.repeat(count))
    const { user } = process.cpuUsage(before)
    return user
  }
  spent(1000)
  // eight times as much: a square would be 64 times
  expect(spent(160_000)).toBeLessThan(Math.max(20_000, spent(20_000)) * 32)
})
