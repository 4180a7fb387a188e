import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LineRefused, wordsOf } from './command-line.ts'
import { commandName, mayChange } from './command-name.ts'

describe('words of a command line', () => {
  test.each([
    ['wp  option\tget a ', ['wp', 'option', 'get', 'a']],
    [`wp 'a b' "c d" e\\ f`, ['wp', 'a b', 'c d', 'e f']],
    [`wp a'b'"c" '' ""`, ['wp', 'abc', '', '']],
    ['wp "a\\"b\\\\c\\d\\$e"', ['wp', 'a"b\\c\\d$e']],
    ["wp '$a `b` \\ \"'", ['wp', '$a `b` \\ "']],
    ['wp a~b c#d \\$x \\;', ['wp', 'a~b', 'c#d', '$x', ';']],
    ['wp a \\\nb "c\\\nd"', ['wp', 'a', 'b', 'cd']],
    ['wp "a;b|c>d"', ['wp', 'a;b|c>d']],
  ])('%j', (line, words) => expect(wordsOf(line)).toEqual(words))

  test.each([
    'a;b',
    'a|b',
    'a&b',
    'a>b',
    'a<b',
    'a`b`',
    '$a',
    '"$a"',
    '"`a`"',
    '(a)',
    'a*',
    'a?',
    '[a]',
    '~',
    '#a',
    'a\nb',
    "'a",
    '"a',
    'a\0',
  ])('refuses %j', (line) => expect(() => wordsOf(`wp ${line}`)).toThrow(LineRefused))

  test('reads what it does not refuse as the system’s shell does', () => {
    const line = fc.array(fc.constantFrom('a', 'b', ' ', "'", '"', '\\', '$', ';', '~', '#', '*', '=', '-'), {
      maxLength: 14,
    })
    fc.assert(
      fc.property(line, (pieces) => {
        const text = `x${pieces.join('')}`
        let words: string[]
        try {
          words = wordsOf(text)
        } catch (error) {
          expect(error).toBeInstanceOf(LineRefused)
          return
        }
        const shown = execFileSync('/bin/sh', ['-fc', `printf '%s\\0' ${text}`]).toString()
        expect(words).toEqual(shown.split('\0').slice(0, -1))
      }),
      { numRuns: 100 },
    )
  })
})

test.each([
  ['wp option get blogname', 'wp option get', false],
  ['wp --path=x plugin install secret --activate', 'wp plugin install', true],
  ['wp search-replace secret other', 'wp search-replace', true],
  ['wp eval secret', 'wp eval', true],
  ['wp user create --user_pass=secret bob', 'wp user create', true],
  ['wp mine secret', 'wp mine', true],
  ['wp option SECRET', 'wp option', true],
  ['wp', 'wp', true],
])('%s is told as %s', (line, name, changes) => {
  expect([commandName(line.split(' ')), mayChange(name)]).toEqual([name, changes])
})
