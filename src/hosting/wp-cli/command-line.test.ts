import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { commandOf, isForWp, LineRefused, shellWords } from './command-line.ts'
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
  ])('%j', (line, words) => expect(shellWords(line)).toEqual(words))

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
  ])('refuses %j', (line) => expect(() => shellWords(`wp ${line}`)).toThrow(LineRefused))

  test('reads what it does not refuse like the system’s shell', () => {
    const line = fc.array(fc.constantFrom('a', 'b', ' ', "'", '"', '\\', '$', ';', '~', '#', '*', '=', '-'), {
      maxLength: 14,
    })
    fc.assert(
      fc.property(line, (pieces) => {
        const text = `x${pieces.join('')}`
        let words: string[]
        try {
          words = shellWords(text)
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

describe('the messages of WP-CLI on another machine', () => {
  const alias = `{"@s":{"path":"/a b","user":"it's"}}`.replaceAll("'", '')
  test.each([
    ['wp option get a', ['wp', 'option', 'get', 'a'], {}],
    [`cd '/wordpress'; wp 'a' 'b c'`, ['wp', 'a', 'b c'], {}],
    ["cd '/wordpress/' && wp a", ['wp', 'a'], {}],
    ['cd ~ ; wp a', ['wp', 'a'], {}],
    [
      `cd '/'; WP_CLI_STRICT_ARGS_MODE=1 WP_CLI_RUNTIME_ALIAS='${alias}' wp @s 'a'`,
      ['wp', '@s', 'a'],
      { WP_CLI_STRICT_ARGS_MODE: '1', WP_CLI_RUNTIME_ALIAS: alias },
    ],
  ])('%s', (line, words, environment) => {
    expect(isForWp(line)).toBe(true)
    expect(commandOf(line)).toEqual({ words, environment })
  })

  test.each([
    "cd '/etc'; wp a",
    "cd '/wordpress/../etc'; wp a",
    "cd '/wordpress/wp-content'; wp a",
    "cd '/wordpress'; wp a; id",
    "cd '/wordpress' && wp a && id",
    "cd '/wordpress'; wp a $(id)",
    'PATH=/tmp wp a',
    'LD_PRELOAD=/wordpress/x.so wp a',
    'WP_CLI_RUNTIME_ALIAS=a PHP_INI_SCAN_DIR=/wordpress wp a',
    '__proto__=a wp a',
  ])('refuses %s', (line) => {
    expect(isForWp(line)).toBe(true)
    expect(() => commandOf(line)).toThrow(LineRefused)
  })

  test.each([
    "cd '/wordpress'; id; wp a",
    "cd '/wordpress'; cd '/wordpress'; wp a",
    'cd $(id); wp a',
    "cd '/wordpress' wp a",
    "cd '/wordpress' | wp a",
    "cd '/wordpress' & wp a",
    "cd '/wordpress'",
    'WP_CLI_RUNTIME_ALIAS="$(id)" wp a',
    'WP_CLI_RUNTIME_ALIAS=`id` wp a',
    'WP_CLI_RUNTIME_ALIAS=a;id wp a',
    'WP_CLI_RUNTIME_ALIAS=a\nid wp a',
    'X=1',
    'wp=1 id',
  ])('does not take %s for a command of WP-CLI', (line) => expect(isForWp(line)).toBe(false))
})

test.each([
  ['wp @staging core update', 'wp core update', true],
  ['wp option get blogname', 'wp option get', false],
  ['wp --path=x plugin install secret --activate', 'wp plugin install', true],
  ['wp search-replace secret other', 'wp search-replace', true],
  ['wp eval secret', 'wp eval', true],
  ['wp user create --user_pass=secret bob', 'wp user create', true],
  ['wp mine secret', 'wp mine', true],
  ['wp option SECRET', 'wp option', true],
  ['wp', 'wp', true],
])('names %s as %s', (line, name, changes) => {
  expect([commandName(line.split(' ')), mayChange(name)]).toEqual([name, changes])
})
