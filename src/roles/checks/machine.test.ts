/** Tests the checks of this machine: settings, disk, clock, limits, PHP. */
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CheckContext } from './check.ts'
import { clockCheck } from './clock.ts'
import { contextOf } from './context.fixture.ts'
import { diskCheck } from './disk.ts'
import { limitsCheck } from './limits.ts'
import { phpCheck } from './php.ts'
import { settingsCheck } from './settings.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stead-checks-'))
})
afterEach(() => rm(folder, { recursive: true }))
const context = (given: Record<string, string> = {}, more: Partial<CheckContext> = {}) =>
  contextOf({ STEAD_DATA_DIR: folder, ...given }, more)

test('settings: reports those for tests, and a master key that others can read', async () => {
  expect(await settingsCheck.run(context())).toMatchObject([{ state: 'ok' }])
  const key = join(folder, 'master.key')
  await writeFile(key, '')
  await chmod(key, 0o640)
  expect(await settingsCheck.run(context({ STEAD_ALLOW_PRIVATE_FETCH: 'true' }))).toMatchObject([
    { state: 'warning', text: 'Settings for tests are on: STEAD_ALLOW_PRIVATE_FETCH.' },
    { state: 'problem', remedy: `Run chmod 600 ${key}, and check who had access.` },
  ])
  await chmod(key, 0o600)
  expect(await settingsCheck.run(context())).toMatchObject([{ state: 'ok' }])
})

test('disk: reports what no longer works, and accepts a folder that the first start creates', async () => {
  const none = join(folder, 'a/b')
  expect(await diskCheck.run(context({ STEAD_DATA_DIR: none, STEAD_DISK_RESERVE_MB: '8' }))).toMatchObject([
    { state: 'ok' },
  ])
  // More than the disk of any machine that runs tests.
  const all = { STEAD_DISK_RESERVE_MB: '65536', STEAD_DATA_DIR: '/dev/shm' }
  expect(await diskCheck.run(context(all))).toMatchObject([
    { state: 'problem', text: expect.stringContaining('sites cannot write') },
  ])
  const file = join(folder, 'file')
  await writeFile(file, '')
  await expect(diskCheck.run(context({ STEAD_BACKUP_DIR: file }))).rejects.toThrow(/is a file.*STEAD_BACKUP_DIR/)
  await expect(diskCheck.run(context({ STEAD_BACKUP_DIR: join(file, 'below') }))).rejects.toThrow(/is a file/)
})

test('clock: reports one that is earlier than this build of Stead', async () => {
  expect(await clockCheck.run(context())).toMatchObject([{ state: 'ok' }])
  const early = { now: () => Date.UTC(2019, 0, 1) }
  expect(await clockCheck.run(context({}, early))).toMatchObject([
    {
      state: 'problem',
      text: 'The clock says 2019-01-01T00:00:00.000Z, which is before this version of Stead was built.',
    },
  ])
})

test('limits: reports more memory than there is, and an invalid cgroup', async () => {
  const found = await limitsCheck.run(context({ STEAD_PHP_MEMORY_MB: '16000000', STEAD_CGROUP: folder }))
  const of = (variable: string) => found.find(({ text, remedy }) => `${text}${remedy}`.includes(variable))
  expect(of('STEAD_PHP_MEMORY_MB')).toMatchObject({ state: 'warning' })
  expect(of('STEAD_CGROUP')).toMatchObject({ state: 'problem' })
})

test('PHP: runs nothing natively without a sandbox', async () => {
  const bare = { STEAD_SANDBOX: 'none', STEAD_RUNTIME: 'native' }
  const states = async (given: Record<string, string>) => (await phpCheck.run(context(given))).map(({ state }) => state)
  expect((await states(bare)).slice(0, 2)).toEqual(['problem', 'warning'])
  expect((await states({ ...bare, STEAD_RUNTIME: 'auto' })).slice(0, 2)).toEqual(['warning', 'warning'])
  expect((await states({ ...bare, STEAD_RUNTIME: 'wasm' })).slice(0, 2)).toEqual(['ok', 'warning'])
})
