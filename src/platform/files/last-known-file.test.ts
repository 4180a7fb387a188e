import { randomBytes } from 'node:crypto'
import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createSealer } from '../crypto/seal.ts'
import type { Log } from '../log/log.ts'
import { LastKnownFile, type LastKnownFileOptions } from './last-known-file.ts'

let folder: string
let file: string
let warnings: string[]
const sealer = createSealer(randomBytes(32))
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-known-'))
  file = join(folder, 'known.json')
  warnings = []
})
afterEach(() => rm(folder, { recursive: true }))

const open = (more: Partial<LastKnownFileOptions> = {}) => {
  const say = ({ err }: { err?: Error }) => warnings.push(String(err?.message))
  const log = { warn: say, error: say } as unknown as Log
  return new LastKnownFile<{ sites: number[] }>({ file, format: 1, sealer, log, ...more })
}

test('what is written is read by the next process, and only by its user', async () => {
  expect(await open().read()).toBeUndefined()
  await open().write({ sites: [1, 2] })
  expect(await open().read()).toEqual({ sites: [1, 2] })
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(warnings).toEqual([])
})

test('only a change is written', async () => {
  const known = open()
  await known.write({ sites: [1] })
  const { ino } = await stat(file)
  await known.write({ sites: [1] })
  expect((await stat(file)).ino).toBe(ino)
  await known.write({ sites: [2] })
  expect((await stat(file)).ino).not.toBe(ino)
})

test('a damaged file, another version, another key, and a file that is too large are ignored', async () => {
  await open().write({ sites: [1, 2] })
  expect(await open({ format: 2 }).read()).toBeUndefined()
  expect(await open({ sealer: createSealer(randomBytes(32)) }).read()).toBeUndefined()
  const whole = await readFile(file, 'utf8')
  for (const damaged of [whole.replace('2]', '3]'), whole.slice(0, -3), whole.slice(0, 9), '', '{}\n{}', 'null\n1']) {
    await writeFile(file, damaged)
    expect(await open().read()).toBeUndefined()
  }
  await writeFile(file, whole)
  await appendFile(file, ' '.repeat(2000))
  expect(await open({ mostBytes: 100 }).read()).toBeUndefined()
  expect(warnings.slice(0, 3)).toEqual([
    'it is of another version',
    'it is damaged, or of another master key',
    'it is damaged, or of another master key',
  ])
  expect(warnings.at(-1)).toBe('it is too large')
  expect(warnings).toHaveLength(9)
})

test('what cannot be written leaves no older content', async () => {
  const known = open({ mostBytes: 20 })
  await known.write({ sites: [1] })
  await known.write({ sites: [1, 2, 3, 4, 5, 6, 7, 8] })
  expect(await known.read()).toBeUndefined()
  await known.write({ sites: [1] })
  expect(await known.read()).toEqual({ sites: [1] })
  expect(warnings).toEqual(['there is too much to keep'])
})

test('what was forgotten is not written again', async () => {
  const known = open()
  await known.write({ sites: [1] })
  await Promise.all([known.write({ sites: [2] }), known.forget(), known.write({ sites: [3] })])
  expect(await open().read()).toBeUndefined()
})
