import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOwner, readMessage, readMessageHead } from './php-message.ts'
import { splitLog } from './split.ts'

/** Written by PHP 8.1.34, 8.2.33, and 8.3.33, which all write the same. */
const log = `[21-Nov-2026 02:39:38 UTC] PHP Warning:  Undefined variable $undefined in /wordpress/wp-content/plugins/shop/inc/a.php on line 12
[21-Nov-2026 02:39:38 UTC] plain words
[21-Nov-2026 02:39:38 UTC] two
lines
[x] third
[21-Nov-2026 02:39:39 UTC] PHP Deprecated:  strlen(): Passing null to parameter #1 ($string) of type string is deprecated in /wordpress/wp-includes/formatting.php on line 3
[21-Nov-2026 02:39:39 UTC] PHP Notice:  notice in /wordpress/wp-content/themes/twenty/functions.php on line 3
[21-Nov-2026 02:39:39 UTC] PHP Fatal error:  Uncaught RuntimeException: boom
second line in /wordpress/fatal.php:1
Stack trace:
#0 /wordpress/fatal.php(2): f(Array)
#1 {main}
  thrown in /wordpress/fatal.php on line 1
[21-Nov-2026 02:39:40 UTC] PHP Parse error:  Unclosed '(' in /wordpress/wp-content/mu-plugins/loader.php on line 1
[21-Nov-2026 02:39:40 UTC] PHP Parse error:  syntax error, unexpected token ";" in /wordpress/eval.php(1) : eval()'d code on line 1
[21-Nov-2026 02:39:40 UTC] PHP Fatal error:  Allowed memory size of 268435456 bytes exhausted (tried to allocate 1073741848 bytes) in /wordpress/mem.php on line 1
[21-Nov-2026 02:39:40 UTC] PHP Warning:  PHP Startup: cannot open in Unknown on line 0
[21-Nov-2026 02:39:41 UTC] WordPress database error Table 'x' doesn't exist for query SELECT 1 made by y
[21-Nov-2026 02:39:41 UTC] PHP Database error:  nothing of PHP's
[21-Nov-2026 02:39:41 UTC] PHP Recoverable fatal error:  Object could not be converted in /wordpress/x in y.php on line 9
`

const entries = (text: string) =>
  splitLog(Buffer.from(text), { inside: false, whole: true }).pieces.map((piece) => readMessage(piece.text))

describe('messages of PHP', () => {
  test('splits each line of PHP into message, severity, file, and line', () => {
    expect(entries(log)).toEqual([
      {
        severity: 'Warning',
        message: 'Undefined variable $undefined',
        file: 'wp-content/plugins/shop/inc/a.php',
        line: 12,
      },
      { severity: 'User', message: 'plain words', file: '', line: -1 },
      { severity: 'User', message: 'two\nlines\n[x] third', file: '', line: -1 },
      {
        severity: 'Deprecated',
        message: 'strlen(): Passing null to parameter #1 ($string) of type string is deprecated',
        file: 'wp-includes/formatting.php',
        line: 3,
      },
      { severity: 'Notice', message: 'notice', file: 'wp-content/themes/twenty/functions.php', line: 3 },
      {
        severity: 'Fatal error',
        message: `Uncaught RuntimeException: boom
second line in fatal.php:1
Stack trace:
#0 fatal.php(2): f(Array)
#1 {main}`,
        file: 'fatal.php',
        line: 1,
      },
      { severity: 'Parse error', message: "Unclosed '('", file: 'wp-content/mu-plugins/loader.php', line: 1 },
      {
        severity: 'Parse error',
        message: 'syntax error, unexpected token ";"',
        file: "eval.php(1) : eval()'d code",
        line: 1,
      },
      {
        severity: 'Fatal error',
        message: 'Allowed memory size of 268435456 bytes exhausted (tried to allocate 1073741848 bytes)',
        file: 'mem.php',
        line: 1,
      },
      { severity: 'Warning', message: 'PHP Startup: cannot open', file: '', line: -1 },
      {
        severity: 'Database error',
        message: "WordPress database error Table 'x' doesn't exist for query SELECT 1 made by y",
        file: '',
        line: -1,
      },
      { severity: 'User', message: "PHP Database error:  nothing of PHP's", file: '', line: -1 },
      { severity: 'Recoverable fatal error', message: 'Object could not be converted', file: 'x in y.php', line: 9 },
    ])
  })

  test('reads times as UTC, and as unknown when the site writes in another zone', () => {
    expect(readMessageHead('[21-Nov-2026 02:39:38 UTC] x')).toEqual({
      length: 27,
      atMs: Date.UTC(2026, 10, 21, 2, 39, 38),
    })
    expect(readMessageHead('[21-Nov-2026 02:39:38 Europe/Berlin] x')).toEqual({ length: 37, atMs: undefined })
    for (const text of ['[21-Nov-2026] x', 'x [21-Nov-2026 02:39:38 UTC] ', '[]', '', '[21-Nov-2026 02:39:38 UTC]'])
      expect(readMessageHead(text)).toBeUndefined()
  })

  test('finds whose code it is', () => {
    expect(codeOwner('wp-content/plugins/shop/inc/a.php')).toEqual({ kind: 'plugin', name: 'shop' })
    expect(codeOwner('wp-content/plugins/hello.php')).toEqual({ kind: 'plugin', name: 'hello' })
    expect(codeOwner('wp-content/mu-plugins/loader.php')).toEqual({ kind: 'mu-plugin', name: 'loader' })
    expect(codeOwner('wp-content/themes/twenty/functions.php')).toEqual({ kind: 'theme', name: 'twenty' })
    expect(codeOwner('wp-includes/formatting.php')).toEqual({ kind: 'core', name: 'wordpress' })
    expect(codeOwner('index.php')).toEqual({ kind: 'core', name: 'wordpress' })
    expect(codeOwner('wp-content/uploads/x.php')).toEqual({ kind: '', name: '' })
  })
})

describe('splitting', () => {
  const head = '[21-Nov-2026 02:39:38 UTC] '

  test('yields the same entries from pieces of any length as from the whole log', () => {
    const bytes = Buffer.from(log)
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 900 }), { minLength: 1 }), (lengths) => {
        const texts: string[] = []
        let at = 0
        let inside = false
        for (let turn = 0; at < bytes.length; turn++) {
          // A cut-off entry is read again with more text after it.
          const length = (lengths[turn % lengths.length] as number) + turn * 10
          const piece = bytes.subarray(at, at + length)
          const split = splitLog(piece, { inside, whole: at + length >= bytes.length })
          texts.push(...split.pieces.map(({ text }) => text))
          at += split.consumed
          inside = split.inside
        }
        expect(texts.map(readMessage)).toEqual(entries(log))
      }),
    )
  })

  test('cuts a huge entry, and does not take the rest for an entry', () => {
    const first = splitLog(Buffer.from(`${head}${'x'.repeat(100_000)}`), { inside: false, whole: false })
    expect(first).toMatchObject({ consumed: 100_027, inside: true })
    expect(first.pieces).toHaveLength(1)
    expect(readMessage(first.pieces[0]?.text as string).message.length).toBe(8193)
    const second = splitLog(Buffer.from(`${'x'.repeat(1000)}\nmore\n${head}next\n`), { inside: true, whole: true })
    expect(second.pieces.map(({ text }) => text)).toEqual(['next\n'])
    expect(splitLog(Buffer.from('no head\n'.repeat(50)), { inside: true, whole: false })).toEqual({
      pieces: [],
      consumed: 400,
      inside: true,
    })
  })

  test('consumes any bytes of a site, or keeps the last entry waiting', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.constantFrom(head, '\n', '\n[', 'PHP Warning:  ')), {
          maxLength: 30,
        }),
        fc.boolean(),
        fc.boolean(),
        (parts, inside, whole) => {
          const bytes = Buffer.concat(parts.map((part) => Buffer.from(part)))
          const split = splitLog(bytes, { inside, whole })
          expect(split.consumed).toBeLessThanOrEqual(bytes.length)
          if (whole) expect(split.consumed).toBe(bytes.length)
          for (const { text, offset } of split.pieces) {
            expect(offset).toBeLessThan(split.consumed)
            const { line, severity } = readMessage(text)
            expect(line >= -1 && severity.length > 0).toBe(true)
          }
        },
      ),
    )
  })
})
