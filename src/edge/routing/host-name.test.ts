import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseAuthority } from './host-name.ts'

test.each([
  ['site.test', 'site.test', 'site.test'],
  ['SITE.Test', 'site.test', 'site.test'],
  ['site.test.', 'site.test', 'site.test'],
  ['site.test.:8081', 'site.test', 'site.test:8081'],
  ['localhost:80', 'localhost', 'localhost:80'],
  ['127.0.0.1:8081', '127.0.0.1', '127.0.0.1:8081'],
  ['[::1]:8081', '[::1]', '[::1]:8081'],
  ['a_b.test', 'a_b.test', 'a_b.test'],
  ['xn--bcher-kva.test', 'xn--bcher-kva.test', 'xn--bcher-kva.test'],
  [Buffer.from('bücher.test:81').toString('latin1'), 'xn--bcher-kva.test', 'xn--bcher-kva.test:81'],
])('%j names %s', (value, hostName, host) => {
  expect(parseAuthority(value)).toEqual({ hostName, host })
})

test.each([
  '',
  '.',
  '..',
  'a..b',
  '-',
  '-a',
  'a-',
  'a b',
  'a/b',
  'a@b',
  'a:b',
  'a:',
  'a:99999',
  'a:1:2',
  'a,b',
  'a\tb',
  '[::1',
  '::1',
  `${'a'.repeat(64)}.test`,
  'a.'.repeat(130),
  '\xff',
  "a'b",
  '%41',
])('%j names no host', (value) => {
  expect(parseAuthority(value)).toBeUndefined()
})

test('the result is always a plain lower-case name that parses to itself', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.domain(), fc.string({ unit: fc.constantFrom('a', '.', '-', ':', '1', 'É', '[', ']') })),
      (value) => {
        const authority = parseAuthority(value)
        if (!authority) return
        expect(authority.hostName).toMatch(/^[a-z0-9_.[\]:-]+$/)
        expect(parseAuthority(authority.host)).toEqual(authority)
      },
    ),
    { numRuns: 2000 },
  )
})
