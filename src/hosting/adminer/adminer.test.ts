import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type FileServer, startFileServer } from '../../../test/support/file-server.ts'
import { type AdminerOptions, findAdminer, RELEASE } from './adminer.ts'

const php = '<?php echo 1;'
const release = { sha256: createHash('sha256').update(php).digest('hex') }
const [info, warn] = [vi.fn(), vi.fn()]
let dataDir: string
let server: FileServer
let source: string

beforeEach(async () => {
  vi.resetAllMocks()
  dataDir = await mkdtemp(join(tmpdir(), 'stead-adminer-'))
  server = await startFileServer()
  server.files.set('/adminer.php', php)
  source = `${server.base}/adminer.php`
})
afterEach(async () => {
  server.close()
  await rm(dataDir, { recursive: true, force: true })
})
const find = async (options: Partial<AdminerOptions> = {}) => {
  const log = { info, warn }
  const installed = join(dataDir, 'installed.php')
  const given = { dataDir, file: undefined, source, allowPrivate: false, log, release, installed, ...options }
  return (await findAdminer(given))?.toString()
}
const keptName = `adminer-${RELEASE.version}.php`
const kept = () => readdir(join(dataDir, 'adminer'))

test('waits for the download at the first start, and downloads once', async () => {
  expect(await find()).toBe(php)
  expect(await kept()).toEqual([keptName])
  server.files.clear()
  expect(await find()).toBe(php)
  expect(warn).not.toHaveBeenCalled()
})

test('prefers the operator’s file to the installed one, and that to the download', async () => {
  await writeFile(join(dataDir, 'installed.php'), 'Debian’s')
  await writeFile(join(dataDir, 'own.php'), 'own')
  expect(await find()).toBe('Debian’s')
  expect(await find({ file: join(dataDir, 'own.php') })).toBe('own')
  expect(await find({ file: 'off' })).toBeUndefined()
  await expect(find({ file: join(dataDir, 'none.php') })).rejects.toThrow('ENOENT')
  expect(existsSync(join(dataDir, 'adminer'))).toBe(false)
})

test.each([
  ['another file', () => server.files.set('/adminer.php', `${php} `), 'another file'],
  ['one that is too large', () => server.files.set('/adminer.php', 'x'.repeat((1 << 20) + 1)), 'larger than'],
  ['none', () => server.files.clear(), '404'],
])('%s: keeps nothing, logs the reason, and the next start retries without waiting', async (_what, breakIt, text) => {
  breakIt()
  expect(await find()).toBeUndefined()
  expect(String(warn.mock.calls[0]?.[0].err)).toContain(text)
  expect(await kept()).toEqual([])
  server.files.set('/adminer.php', php)
  expect(await find()).toBeUndefined()
  await expect.poll(kept).toEqual([keptName])
  expect(await find()).toBe(php)
})

test('does not wait forever at the first start', async () => {
  const { promise, resolve } = Promise.withResolvers<Buffer>()
  const offline = { source: undefined, fromDebian: () => promise, firstStartMs: 1 }
  expect(await find(offline)).toBeUndefined()
  resolve(Buffer.from(php))
  await expect.poll(kept, { timeout: 30_000 }).toEqual([keptName])
})

test('downloads again when the stored file has changed, and removes leftovers of a crashed start', async () => {
  await mkdir(join(dataDir, 'adminer/part-left'), { recursive: true })
  await writeFile(join(dataDir, 'adminer', keptName), 'cut off')
  expect(await find()).toBeUndefined()
  await expect.poll(async () => (await readFile(join(dataDir, 'adminer', keptName))).toString()).toBe(php)
  await expect.poll(kept).toEqual([keptName])
})
