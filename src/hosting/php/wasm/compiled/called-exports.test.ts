import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { phpVersions } from '../../runtime.ts'
import { calledExports } from './called-exports.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-exports-'))
})
afterAll(() => rm(folder, { recursive: true }))

test.each(phpVersions)('finds that the JavaScript of PHP %s calls a tenth of its exports', async (version) => {
  const packageFile = `@php-wasm/node-${version.replace('.', '-')}/package.json`
  const name = `php_${version.replace('.', '_')}.js`
  const called = await calledExports(join(dirname(createRequire(import.meta.url).resolve(packageFile)), 'jspi', name))
  expect(called?.length).toBeGreaterThan(300)
  expect(called?.length).toBeLessThan(1000)
  // One that Stead calls, some that emscripten calls, and one that PHP may wait in.
  expect(called).toEqual(
    expect.arrayContaining(['php_wasm_init', 'wasm_sapi_handle_request', 'malloc', 'memory', 'fflush']),
  )
})

test.each([
  ['calls none', '/^(main)$/'],
  ['does not say during which PHP may wait', "wasmExports['malloc']"],
])('finds nothing in JavaScript that %s', async (_, script) => {
  const file = join(folder, 'php.js')
  await writeFile(file, script)
  expect(await calledExports(file)).toBeNull()
})
