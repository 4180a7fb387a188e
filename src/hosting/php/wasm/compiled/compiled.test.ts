import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  giveToSite,
  type TestDirectory,
  testAddress,
  testDirectory,
  usualRuntime,
} from '../../../../../test/support/site-directory.ts'
import type { PhpProcess, PhpRuntime } from '../../runtime.ts'
import { createWasmRuntime } from '../start.ts'
import { compiling, publishCompiled } from './compiled.ts'

const when = new Date('2026-01-01T00:00:00Z')
let core: string
let compiled: string
let runtime: PhpRuntime

beforeAll(async () => {
  core = await mkdtemp(join(tmpdir(), 'stead-compiled-'))
  for (const folder of ['wp-admin', 'wp-includes', 'wp-content']) await mkdir(join(core, folder))
  compiled = `${core}-of-all`
  runtime = await createWasmRuntime({ ...usualRuntime(), optimize: false, compiledOf: () => compiled })
})
afterAll(async () => {
  await runtime.close()
  for (const folder of [core, compiled]) await rm(folder, { recursive: true, force: true })
})

/** Writes a script of the core, with the same date as before. */
async function coreSays(word: string, changed = when) {
  const file = join(core, 'wp-includes/word.php')
  await writeFile(file, `<?php return '${word}';`)
  await utimes(file, changed, changed)
}

async function run(process: PhpProcess, script: string): Promise<string> {
  const { body, finished } = await process.request({
    ...{ method: 'GET', path: '/', script, headers: [], body: null, bodyBytes: 0 },
    ...{ remoteAddress: '127.0.0.1', https: false, host: testAddress },
  })
  const said = await text(body)
  await finished
  return said
}

/** Returns the output of a new process of a new site directory. */
async function said(
  code: string,
  setUp: (directory: TestDirectory) => Promise<void> = async () => {},
): Promise<string> {
  const directory = await testDirectory(core)
  try {
    await setUp(directory)
    const script = await directory.script('a.php', code)
    await giveToSite(directory.siteDirectory)
    const process = await runtime.start(directory)
    return await run(process, script).finally(() => process.stop(0))
  } finally {
    await directory.remove()
  }
}

const word = "echo include '/wordpress/wp-includes/word.php';"

test('shares the compiled core among processes, and compiles a changed script again', async () => {
  await coreSays('first')
  const maker = await testDirectory(core)
  await mkdir(join(maker.siteDirectory, 'private', compiling))
  const script = await maker.script('a.php', `opcache_compile_file('/wordpress/wp-config.php'); ${word}`)
  await giveToSite(maker.siteDirectory)
  const process = await runtime.start(maker, { keepsCompiled: true })
  expect(await run(process, script)).toBe('first')
  await process.stop()
  await publishCompiled(maker.siteDirectory, compiled)
  await maker.remove()

  // Only a process that reads the compiled script misses this change.
  await coreSays('other')
  expect(await said(word)).toBe('first')
  await coreSays('newer', new Date('2026-01-02T00:00:00Z'))
  expect(await said(word)).toBe('newer')
})

test('contains nothing of wp-config.php, and no site can change it', async () => {
  const files = (await readdir(compiled, { recursive: true })).filter((file) => file.endsWith('.bin'))
  expect(files.map((file) => file.slice(33))).toEqual(['wordpress/wp-includes/word.php.bin'])
  const file = `/compiled/${files[0]}`
  const tries = `$tries = [file_put_contents('/compiled/own', 'x'), file_put_contents('${file}', 'x'), unlink('${file}'), chmod('${file}', 0666)];`
  expect(await said(`${tries} echo json_encode($tries), filesize('${file}') > 100 ? ' whole' : ' changed';`)).toBe(
    '[false,false,false,false] whole',
  )
  expect(existsSync(join(compiled, 'own'))).toBe(false)
})
