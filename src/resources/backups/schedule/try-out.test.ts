/** Tests of database backups that are test-loaded before they count. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { DumpUnreadable } from '../../../hosting/site-database/database-content.ts'
import { DiskFull } from '../../../hosting/site-directories/disk-space.ts'
import { completeBackup, findBackup, untriedSince } from '../backup.store.ts'
import { siteOwner } from '../backup.ts'
import { backupIn } from '../backups.fixture.ts'
import { type FakeContent, fakeContent } from '../content.fixture.ts'
import { takeBackup } from '../take/take-backup.ts'
import { isDue, MOST_TRIED_BYTES, TRIED_EACH_BYTES } from './try-out.ts'

let api: TestApi
let host: FakeHost
let owner: Person
let site: number
let content: FakeContent

beforeEach(async () => {
  api = await testApi('sqlite')
  host = await fakeHost(api)
  owner = await api.person('owner@example.com')
  site = await api.site(owner, 'tried')
  await host.giveDirectory(site)
  content = fakeContent()
})
afterEach(async () => {
  await host.close()
  await api.close()
})

const { signal } = new AbortController()
const take = (more: object = {}) =>
  takeBackup({ ...host.services, ...content }, { siteId: site, name: 'b1-tried', kind: 'db', signal, ...more })
const stored = async () => (await api.backups.repository(siteOwner(site)).list()).length

test('loads a database backup from the storage before it counts', async () => {
  expect(await take()).toMatchObject({ isTriedOut: true })
  expect(content.tried).toEqual([content.dump])
  expect(await stored()).toBe(1)
})

test.each([
  [
    'cannot be loaded',
    async () => Promise.reject(new DumpUnreadable('Duplicate entry')),
    /cannot be restored: Duplicate entry/,
  ],
  [
    'comes out otherwise',
    async () => 'rows of the table t are not the same',
    /cannot be restored exactly: rows of the table t/,
  ],
])('removes a backup that %s, and reports the reason', async (_name, trial, message) => {
  content.trial = trial
  await expect(take()).rejects.toThrow(message)
  expect(await stored()).toBe(0)
})

test('does not blame the backup when the server is away, and a retry finds it', async () => {
  content.trial = async () => Promise.reject(new Error('connect ECONNREFUSED'))
  await expect(take()).rejects.toThrow('ECONNREFUSED')
  expect(await stored()).toBe(1)
})

test('counts a backup without disk space for the test load, and says that it was not tested', async () => {
  content.trial = async () => Promise.reject(new DiskFull('The disk of the host is full'))
  const taken = await take()
  expect(taken.isTriedOut).toBe(false)
  expect(taken.warning).toContain('because the disk of the host is full')
  expect(await stored()).toBe(1)
})

test('test-loads a large backup as often as matches the work of small ones', () => {
  const turns = (bytes: number) => {
    let untried = 0
    return Array.from({ length: 12 }, () => {
      const isTurn = isDue(bytes, untried)
      untried = isTurn ? 0 : untried + 1
      return isTurn ? 1 : 0
    }).join('')
  }
  expect(turns(TRIED_EACH_BYTES)).toBe('111111111111')
  expect(turns(TRIED_EACH_BYTES + 1)).toBe('010101010101')
  expect(turns(4 * TRIED_EACH_BYTES)).toBe('000100010001')
  expect(isDue(MOST_TRIED_BYTES + 1, 1000)).toBe(false)
})

test('counts the untested backups of each site, and only those of its database', async () => {
  const complete = async (siteId: number, kind: 'fs' | 'db', isTriedOut: boolean) => {
    const id = await backupIn(api, siteId, { kind })
    await api.database.transaction(async (tx) => {
      const backup = await findBackup(tx, siteId, id)
      await completeBackup(tx, backup as never, { takenAt: 1, bytes: 1, coreVersion: null, isTriedOut }, 1)
    })
  }
  const count = () => untriedSince(api.database.read, site)
  expect(await count()).toBe(0)
  await complete(site, 'db', false)
  await complete(site, 'db', false)
  expect(await count()).toBe(2)
  await complete(site, 'db', true)
  expect(await count()).toBe(0)
  await complete(site, 'db', false)
  await complete(site, 'fs', false)
  await complete(await api.site(owner, 'other'), 'db', false)
  expect(await count()).toBe(1)
})
