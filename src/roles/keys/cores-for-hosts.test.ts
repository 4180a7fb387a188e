/** Tests that a control stores copies of WordPress for hosts that may not. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { type ReleaseApi, startReleaseApi } from '../../../test/support/release-api.ts'
import { StorageFailure } from '../../backups/backup-store.ts'
import { StorageAway } from '../../backups/storage/storage.ts'
import { readConfig } from '../../config.ts'
import { noLog } from '../../platform/log/log.ts'
import { openBackups } from '../../resources/kit/open-backups.ts'
import { ControlAway } from '../certificates/join.ts'
import { type CoresForHosts, coresForHosts } from './cores-for-hosts.ts'
import { keysOfMaster } from './process-keys.ts'
import { storeCoreAtControl } from './storage-from-control.ts'

const keys = keysOfMaster(randomBytes(32))
let api: TestApi
let releases: ReleaseApi
let folder: string
let cores: CoresForHosts
beforeEach(async () => {
  api = await testApi('sqlite')
  releases = await startReleaseApi()
  folder = await mkdtemp(join(tmpdir(), 'stead-cores-'))
  cores = coresForHosts(context())
})
afterEach(async () => {
  await cores.stop()
  releases.close()
  await api.close()
  await rm(folder, { recursive: true })
})

const context = () => ({
  config: readConfig({
    ...{ STEAD_DATA_DIR: folder, STEAD_WORDPRESS_API: releases.base, STEAD_ALLOW_PRIVATE_FETCH: 'yes' },
  }),
  ...{ database: api.database, ...keys, log: noLog },
})
const stored = async () => (await openBackups(context()).repository('core-6.8.7').list()).map(({ name }) => name)
const { signal } = new AbortController()

/** Asks until there is a result, as a host does. */
async function keep(version: string) {
  for (;;) {
    const answer = await cores.keep(version)
    if (answer.state !== 'storing') return answer
  }
}

test('stores a release once, from its own source, and keeps no files of it', async () => {
  releases.publish('6.8.7')
  const answers = await Promise.all([keep('6.8.7'), keep('6.8.7')])
  expect(answers).toEqual([{ state: 'stored' }, { state: 'stored' }])
  expect(await stored()).toEqual(['core'])
  const count = releases.asked.length
  expect(await keep('6.8.7')).toEqual({ state: 'stored' })
  expect(releases.asked).toHaveLength(count)
  expect((await readdir(folder)).filter((name) => name.startsWith('cores'))).toEqual([])
})

test('says that it cannot get a release, and takes no other text for one', async () => {
  releases.publish('6.8.7')
  expect(await keep('6.8.9')).toMatchObject({ state: 'unavailable' })
  for (const version of ['../6.8', 'latest', ''])
    expect(await cores.keep(version)).toEqual({ state: 'unavailable', reason: 'this is not a version of WordPress' })
})

test('lets a host wait for it, and gives a warning if there is none', async () => {
  const answers = [{ state: 'storing' }, { state: 'storing' }, { state: 'stored' }]
  const ask = async () => answers.shift() as Record<string, unknown>
  expect(await storeCoreAtControl({ ask }, '6.8.7', signal)).toBeUndefined()
  expect(answers).toEqual([])
  const none = { ask: async () => ({ state: 'unavailable' }) }
  expect(await storeCoreAtControl(none, '6.8.7', signal)).toContain('cannot get WordPress 6.8.7')
  const failed = { ask: async () => ({ state: 'failed', reason: 'full' }) }
  await expect(storeCoreAtControl(failed, '6.8.7', signal)).rejects.toThrow(StorageFailure)
  const away = { ask: () => Promise.reject(new ControlAway('away')) }
  await expect(storeCoreAtControl(away, '6.8.7', signal)).rejects.toThrow(StorageAway)
})
