import { describe, expect, test } from 'vitest'
import { variablesOf } from '../native/variables.ts'
import { credentialEntries } from './server-variables.ts'

describe('PATH_INFO', () => {
  const of = (path: string, script = '/wordpress/index.php') => {
    const entries = variablesOf({
      ...{ method: 'GET', path, script, headers: [], remoteAddress: '192.0.2.1', https: false, host: 'x.test' },
      bodyBytes: 0,
    })
    return [entries.get('PATH_INFO'), entries.get('PHP_SELF')]
  }
  test.each([
    ['/index.php/hello/w%C3%B6rld/?a=/b.php/c', '/hello/wörld/'],
    ['//index%2Ephp//x', '/x'],
    ['/index.php%2fx', '/x'],
    ['/index.php/', '/'],
  ])('%s → %s', (path, expected) => expect(of(path)).toEqual([expected, `/index.php${expected}`]))

  test.each([
    '/',
    '/hello/',
    '/none.php/x',
    '/index.php',
    '/index.php?a=/index.php/b',
    '/index.php/%ff',
    '/a/index.php/b',
  ])('%s has no PATH_INFO', (path) => expect(of(path)).toEqual([undefined, '/index.php']))

  test('belongs to a script in a folder', () =>
    expect(of('/app/run.php/x', '/wordpress/app/run.php')).toEqual(['/x', '/app/run.php/x']))
})

test.each([
  [
    'Basic dTpwOnE=',
    [
      ['PHP_AUTH_USER', 'u'],
      ['PHP_AUTH_PW', 'p:q'],
    ],
  ],
  [
    'basic  dTo=',
    [
      ['PHP_AUTH_USER', 'u'],
      ['PHP_AUTH_PW', ''],
    ],
  ],
  ['Basic dQ==', []],
  ['Digest username="u"', [['PHP_AUTH_DIGEST', 'username="u"']]],
  ['Bearer dTpw', []],
  [undefined, []],
] as [string | undefined, string[][]][])('%s is %j', (header, expected) =>
  expect(credentialEntries(header)).toEqual(expected),
)
