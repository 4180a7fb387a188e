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

test.each(phpVersions)('a tenth of what PHP %s exports is called by its JavaScript', async (version) => {
  const packageFile = `@php-wasm/node-${version.replace('.', '-')}/package.json`
  const name = `php_${version.replace('.', '_')}.js`
  const called = await calledExports(join(dirname(createRequire(import.meta.url).resolve(packageFile)), 'jspi', name))
  expect(called?.length).toBeGreaterThan(300)
  expect(called?.length).toBeLessThan(1000)
  // what Stead calls, what emscripten does, and one that PHP may wait in
  expect(called).toEqual(
    expect.arrayContaining(['php_wasm_init', 'wasm_sapi_handle_request', 'malloc', 'memory', 'fflush']),
  )
})

test.each([
  ['calls none', '/^(main)$/'],
  ['does not say during which PHP may wait', "wasmExports['malloc']"],
])('of a JavaScript that %s nothing is known', async (_, script) => {
  const file = join(folder, 'php.js')
  await writeFile(file, script)
  expect(await calledExports(file)).toBeNull()
})
