import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openConcurrencyClasses } from './concurrency-classes.ts'
import { definitionsByName } from './definition.ts'
import { oneStep } from './harness.ts'
import { usualBackoff, waitAfter } from './worker/backoff.ts'
import { failureText } from './worker/failure-text.ts'
import { estimateTimeLeft, progressWriter } from './worker/progress.ts'

test('does not look for types that have reached their limit', () => {
  const [free, limited] = [oneStep(() => {}), { ...oneStep(() => {}, { atOnce: 1 }), name: 'test.limited' }]
  const concurrencyClasses = (running: { type: string }[]) =>
    openConcurrencyClasses(definitionsByName([free, limited]), running, 5)
  const unlimited = { types: ['test.one'], most: 5 }
  expect(concurrencyClasses([{ type: 'test.one' }])).toEqual([unlimited, { types: ['test.limited'], most: 1 }])
  expect(concurrencyClasses([{ type: 'test.limited' }])).toEqual([unlimited])
  expect(openConcurrencyClasses(definitionsByName([limited]), [], 5)).toEqual([{ types: ['test.limited'], most: 1 }])
})

test('grows waits exponentially up to a bound, between half and all of it', () => {
  const backoff = { firstMs: 100, factor: 2, mostMs: 1000 }
  expect([1, 2, 3, 4, 5, 60].map((attempt) => waitAfter(attempt, backoff, 1))).toEqual([100, 200, 400, 800, 1000, 1000])
  expect(waitAfter(3, backoff, 0)).toBe(200)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
      const wait = waitAfter(attempt, usualBackoff, random)
      return wait >= usualBackoff.firstMs / 2 && wait <= usualBackoff.mostMs
    }),
  )
})

test('shows errors in one line, without stack and secrets', () => {
  expect(failureText(new Error('a\n    at f (x.ts:1:2)\n    at g (y.ts:3:4)'))).toBe('a')
  expect(failureText(new Error('cannot reach postgres://me:pass@db/x'))).toBe('cannot reach postgres://db/x')
  expect(failureText(new Error('sent Authorization: Bearer abcdefgh1234'))).toBe('sent Authorization: Bearer (hidden)')
  expect(failureText(new Error('client_secret="x y" and password: hunter2, done'))).toBe(
    'client_secret=(hidden) and password: (hidden), done',
  )
  expect(failureText(Object.assign(new Error(''), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED')
  expect(failureText('text')).toBe('text')
  expect(failureText(new Error("EACCES: permission denied, unlink '/srv/stead data/sites/h1/web/x'"))).toBe(
    'EACCES: permission denied, unlink (path)',
  )
  expect(failureText(new Error('bwrap: Can’t find source path /srv/data/sites/h1/web: gone'))).toBe(
    'bwrap: Can’t find source path (path): gone',
  )
  const kept = "see /wordpress/wp-content/x.php, text/html, https://a.test/b/c, GET /v1/sites and 'and/or'"
  expect(failureText(new Error(kept))).toBe(kept)
  expect(failureText(undefined)).toBe('Unknown error')
  expect(failureText('x'.repeat(500))).toBe('x'.repeat(500))
  expect(failureText('x'.repeat(501))).toBe(`${'x'.repeat(499)}…`)
  fc.assert(fc.property(fc.anything(), (thrown) => failureText(thrown).length <= 500))
})

test('writes the first and the last progress value, never two at a time, and nothing after closing', async () => {
  const written: number[] = []
  let writing = 0
  const writer = progressWriter(async ({ percent }) => {
    expect(++writing).toBe(1)
    await new Promise(setImmediate)
    written.push(percent)
    writing--
  }, 1)
  for (let percent = 1; percent <= 50; percent++) writer.set({ percent })
  while (written.at(-1) !== 50) await new Promise(setImmediate)
  expect(written).toEqual([1, 50])
  writer.set({ percent: 60 })
  await writer.close()
  const atClose = [...written]
  writer.set({ percent: 70 })
  await new Promise((resolve) => setTimeout(resolve, 10))
  expect(written).toEqual(atClose)
})

test('estimates the time left by the pace of this attempt, once it has one', () => {
  let now = 5000
  const left = estimateTimeLeft(() => now)
  // The work of an earlier attempt took no time in this one.
  expect(left(600, 1000)).toBeNull()
  now += 1999
  expect(left(700, 1000)).toBeNull()
  now += 1
  expect(left(700, 1000)).toBe(6)
  expect(left(600, 1000)).toBeNull()
  now += 2000
  expect(left(800, 1000)).toBe(4)
  // The total was an estimate.
  expect(left(1100, 1000)).toBe(0)
})

test('keeps words, whatever comes before them', () => {
  for (const text of [
    'this plugin needs basic functionality of the theme',
    'the bearer certificate is missing',
    'no such user (task reset-password)',
    'WordPress did not set the password: no such user (task reset-password)',
    'WordPress did not set the new password: Call to undefined function foo()',
    'Uncaught Error: Call to undefined method Token::create()',
    'Call to undefined method WP_Session_Tokens::get()',
    'Undefined constant Secret::KEY',
    'Access to Password::$hash is denied',
    'unexpected token: end of file',
    'syntax error, unexpected token "=", expecting ";"',
    'Basic authentication. It is off',
    'a basic two-factor log-in',
    'Basic WooCommerce support',
  ])
    expect(failureText(new Error(text))).toBe(text)
})

test.each([
  ['Basic dXNlcjpwYXNzd29yZA==', 'Basic (hidden)'],
  ['Bearer abcDefgHijk', 'Bearer (hidden)'],
  ['Bearer aVerylongOne.withParts', 'Bearer (hidden)'],
  ['password=hunter and more', 'password=(hidden) and more'],
  ['user=me&token=abc&x=1', 'user=me&token=(hidden)&x=1'],
  ['{"password":"a b","x":1}', '{"password":(hidden),"x":1}'],
  ["['password' => 'hunter two', 'x' => 1]", "['password' => (hidden), 'x' => 1]"],
  ['client_secret: "it is cut o', 'client_secret: (hidden)'],
  ['DB_PASSWORD: hunter', 'DB_PASSWORD: (hidden)'],
  ['DB_PASSWORD: hunter, and more', 'DB_PASSWORD: (hidden), and more'],
  ['DB_PASSWORD: hunter2 was wrong', 'DB_PASSWORD: (hidden) was wrong'],
  ['DB_PASSWORD:hunter was wrong', 'DB_PASSWORD:(hidden) was wrong'],
  ['Token::check: token=abc', 'Token::check: token=(hidden)'],
])('hides a secret that is not a word: %s', (text, expected) => {
  expect(failureText(new Error(text))).toBe(expected)
})
