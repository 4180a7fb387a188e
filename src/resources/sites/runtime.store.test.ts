import { describe, expect, test } from 'vitest'
import { canRun, canTake } from './runtime.store.ts'

const host = {
  databases: { '8.2': 'mariadb', '8.3': 'sqlite' },
  runtimes: { '8.1': 'refused', '8.2': 'native', '8.3': 'native', '8.4': 'wasm' },
  hasWasm: false,
}

describe('a host', () => {
  test.each([
    ['8.2', 'mariadb', true],
    ['8.3', 'mariadb', false],
    ['8.4', 'mariadb', false],
    ['8.2', 'sqlite', false],
  ] as const)('with PHP %s and the database %s of a site: %s', (version, database, expected) => {
    expect(canTake(host, version, database)).toBe(expected)
  })

  test('takes a site with an embedded database if it runs WebAssembly', () => {
    expect(canTake({ ...host, hasWasm: true }, '8.4', 'sqlite')).toBe(true)
    expect(canTake({ ...host, hasWasm: true }, '8.1', 'sqlite')).toBe(false)
  })

  test('runs every version until its first report', () => {
    expect(canRun({ databases: {}, runtimes: {}, hasWasm: true }, '8.1', undefined)).toBe(true)
    expect(canRun(host, '8.1', undefined)).toBe(false)
  })
})
