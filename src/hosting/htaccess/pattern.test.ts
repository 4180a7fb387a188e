import { describe, expect, test } from 'vitest'
import { BadPattern, Pattern, TooMuchWork } from './pattern.ts'

const exec = (pattern: string, text: string, ignoresCase = false) =>
  new Pattern(pattern, ignoresCase).exec(text, { left: 1e6 })

describe('finds the same as PCRE', () => {
  const patterns = [
    '^(.*)$', 'a+b', '(a|ab)(c|bcd)(d*)', '^index\\.php$', '(a*)*b', 'x{2,4}?y', '\\bfoo\\b', '(?:a|b)+?c', '[^/]+/(\\d+)', '()|x', '[\\]a]+', '[a-]+', '^(?!wp-).*\\.(jpe?g|png)$', '(?=a).b', 'x{2}', 'a{0,1}b', '\\x61\\W',
    '(a+)+$', '(?<name>b)c', '[^a-c\\d]', '.?.?b', 'a|b|', '\\.(?:php\\d?|phtml)$',
  ] // biome-ignore format: a list
  const texts = [
    'aaab',
    'abcd',
    'index.php',
    'xxxxy',
    'wp-a.png',
    'q/a.jpeg',
    'a foo b',
    'ababc',
    'x/y/12',
    'b',
    ']a-',
    '-a-',
    '',
    'x.php7',
    'Ü1',
  ]
  test.each(patterns)('%s', (pattern) => {
    for (const text of texts) {
      const found = new RegExp(pattern, 's').exec(text)
      expect([text, exec(pattern, text)]).toEqual([text, found ? [...found].map((part) => part ?? '') : undefined])
    }
  })

  test('supports named classes, and ignores case for all of it or from a place on', () => {
    expect(exec('^[[:alpha:]]+[[:^digit:]]$', 'abc.')).toEqual(['abc.'])
    expect(exec('BOT', 'a robot', true)).toEqual(['bot'])
    expect(exec('a(?i)b', 'aB')).toEqual(['aB'])
    expect(exec('a(?i:b)c', 'aBC')).toBeUndefined()
    expect(exec('[^a]', 'A', true)).toBeUndefined()
  })
})

test.each([
  '(a',
  'a)',
  '[a',
  '*a',
  '(?<=a)b',
  '(a)\\1',
  'a++',
  '\\',
  '(?>a)',
  'a{3,1}',
  '[b-a]',
  '\\p{L}',
  `${'('.repeat(60)}a${')'.repeat(60)}`,
  '(a{999}){999}',
])('rejects %s', (pattern) => expect(() => new Pattern(pattern)).toThrow(BadPattern))

test('takes work linear in the text, and stops at the limit', () => {
  const steps = (pattern: string, length: number) => {
    const work = { left: 1e8 }
    new Pattern(pattern).test(`${'a'.repeat(length)}!`, work)
    return 1e8 - work.left
  }
  for (const pattern of ['^(a+)+$', '(.*)*(.*)*(.*)*x', '^(a|a|aa)*$', '^(([a-z])+.)+[A-Z]([a-z])+$'])
    expect(steps(pattern, 2000) / steps(pattern, 1000)).toBeLessThan(2.5)
  expect(() => new Pattern('(x+x+)+y').test('x'.repeat(5000), { left: 1000 })).toThrow(TooMuchWork)
  expect(() => new Pattern('(?=(?=(?=.*b).*b).*b).c').test('a'.repeat(3000), { left: 100_000 })).toThrow(TooMuchWork)
})
