import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { removeLeftTemporaries, writeFileOnce } from './write-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-write-'))
})
afterEach(() => rm(folder, { recursive: true }))

/** Writes until it is killed. */
const WRITER = `const { writeFileDurably } = await import(process.argv[1])
  for (;;) await writeFileDurably(process.argv[2], 'x'.repeat(3_000_000), 0o600)`

test('removes only the temporary files of killed writers at the next start', async () => {
  await writeFile(join(folder, 'of-somebody.tmp'), '')
  await writeFile(join(folder, `mine.${process.pid}-0123456789ab.tmp`), 'being written')
  await writeFile(join(folder, 'old.0123456789ab.tmp'), '')
  await utimes(join(folder, 'old.0123456789ab.tmp'), 1, 1)
  const left = async () => (await readdir(folder)).filter((name) => name.startsWith('key.')).length
  while ((await left()) === 0) {
    const words = ['--no-warnings', '--input-type=module', '-e', WRITER, join(import.meta.dirname, 'write-file.ts')]
    const writer = spawn(process.execPath, [...words, join(folder, 'key')])
    while ((await left()) === 0) await new Promise(setImmediate)
    writer.kill('SIGKILL')
    await once(writer, 'exit')
  }
  expect(await removeLeftTemporaries(folder)).toBeGreaterThanOrEqual(2)
  expect((await readdir(folder)).filter((name) => name !== 'key').sort()).toEqual([
    `mine.${process.pid}-0123456789ab.tmp`,
    'of-somebody.tmp',
  ])
  expect(await removeLeftTemporaries(join(folder, 'none'))).toBe(0)
})

test('leaves an existing file unchanged in writeFileOnce, and writes nothing', async () => {
  const file = join(folder, 'key')
  await writeFileOnce(file, 'first', 0o600)
  await writeFileOnce(file, 'second', 0o600)
  expect([await readFile(file, 'utf8'), await readdir(folder)]).toEqual(['first', ['key']])
})

test('lets one of two simultaneous writers win; the other, and one that fails, leave nothing', async () => {
  const file = join(folder, 'export')
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const
  async function* content(own: 0 | 1) {
    yield Buffer.from(`begin ${own}, `)
    begun[own].resolve()
    // Each has written its beginning before either continues.
    await begun[1 - own]?.promise
    yield Buffer.from(`end ${own}`)
  }
  const first = await Promise.all([writeFileOnce(file, content(0), 0o600), writeFileOnce(file, content(1), 0o600)])
  expect(await readFile(file, 'utf8')).toBe(`begin ${first.indexOf(true)}, end ${first.indexOf(true)}`)
  expect([first.toSorted(), await readdir(folder)]).toEqual([[false, true], ['export']])
  async function* failing() {
    yield Buffer.from('begin')
    throw new Error('the connection is gone')
  }
  await expect(writeFileOnce(join(folder, 'other'), failing(), 0o600)).rejects.toThrow('the connection is gone')
  expect(await readdir(folder)).toEqual(['export'])
})
