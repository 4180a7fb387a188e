import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { type TestBackups, testBackups } from '../../../backups/backup-store.fixture.ts'
import { PhpTimeout } from '../../../hosting/php/runtime.ts'
import { DiskFull } from '../../../hosting/site-directories/disk-space.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import type { HostServices } from '../../kit/host-services.ts'
import { changeSite } from '../../sites/site.store.ts'
import { coreOwner, siteOwner } from '../backup.ts'
import { takeBackupJob } from '../take/take-backup.job.ts'
import { proveBackups } from './prove-backups.job.ts'

let stored: TestBackups
let api: TestApi
let host: FakeHost
let owner: Person
let site: number
let worker: Worker
/** The response of PHP in the throw-away site directory, if a test sets it. */
let page: ((siteDirectory: string) => { status: number }) | undefined
/** Runs instead of starting PHP, if a test sets it. */
let start: (() => undefined) | undefined
/** The warnings of the worker. */
let warnings: string[]

beforeEach(async () => {
  stored = await testBackups()
  api = await testApi('sqlite', { backups: stored.backups })
  host = await fakeHost(api)
  owner = await api.person('owner@example.com')
  site = await api.site(owner, 'proven')
  page = undefined
  start = undefined
  warnings = []
  await host.giveDirectory(site)
  await api.database.transaction(async (tx) => {
    await changeSite(tx, site, { writtenAddress: 'proven.example.com' }, 1)
    const row = { site_id: site, files_at: 9e15, database_at: 9e15, proof_at: 9e15, told_at: null }
    await tx.insertInto('backup_schedules').values(row).execute()
  })
  const startSpare = async (place: { siteDirectory: string }) =>
    start
      ? start()
      : {
          runTask: async () => ({ home: 'http://proven.example.com' }),
          request: async () => ({
            status: 200,
            headers: [],
            body: Readable.from([Buffer.from('<html>')]),
            ...page?.(place.siteDirectory),
          }),
          stop: async () => {},
        }
  const services = { ...host.services, pool: { ...host.services.pool, startSpare } } as unknown as HostServices
  const definitions = [takeBackupJob, proveBackups].map((each) => ({ ...each, attempts: 1 }))
  worker = startWorker(api.database, definitions, { runner: 'host', hostId: host.hostId, services, log: warningLog() })
})
afterEach(async () => {
  await worker.stop(0)
  await host.close()
  await api.close()
  await stored.close()
})

const warningLog = () => pino({ level: 'warn' }, { write: (line: string) => void warnings.push(JSON.parse(line).msg) })

const take = async (type: 'fs' | 'db') => {
  const { headers } = await owner.call('POST', `/v1/sites/${site}/ondemand-backups`, { backup_type: type })
  expect(await ended(api.database, Number(headers['operation-id']))).toMatchObject({ state: 'succeeded' })
}
const prove = async () => {
  const { accountId } = owner
  const { hostId } = host
  const id = await api.database.transaction((tx) => enqueue(tx, proveBackups, { siteId: site }, { accountId, hostId }))
  const operation = await ended(api.database, id)
  const result = await api.database.read
    .selectFrom('operation_steps')
    .select('result')
    .where('operation_id', '=', id)
    .executeTakeFirst()
  return { state: operation.state, error: operation.error, result: JSON.parse(result?.result ?? 'null') }
}
const log = async () =>
  (await api.database.read.selectFrom('activity').select(['action', 'site_id', 'message']).execute()).filter(
    ({ action }) => action === 'backup.proof_failed',
  )
const alerts = async () => {
  const rows = await api.database.read.selectFrom('alerts').selectAll().where('site_id', '=', site).execute()
  return rows.map((row) => [row.kind, row.detail, row.ended_at === null])
}

test('restores the newest of both into a throw-away site directory, requests its front page, and leaves nothing behind', async () => {
  expect((await prove()).result).toEqual({ unproved: 'the site does not have backups of both files and database yet' })
  await writeFile(join((await host.services.siteDirectories.ofSite(site))?.path as string, 'web/own.txt'), 'its own')
  await take('fs')
  await take('db')
  const seen: unknown[] = []
  page = (siteDirectory) => {
    const directory = readdirSync(join(siteDirectory, 'web'))
    seen.push([directory.includes('own.txt'), host.title(siteDirectory)])
    // While it exists, the site directory belongs to no site, and to none that will be created.
    seen.push(host.directoriesOnDisk().length)
    return { status: 302 }
  }
  expect(await prove()).toEqual({ state: 'succeeded', error: null, result: { files: 1, database: 2 } })
  expect(seen).toEqual([[true, 'old'], 2])
  expect(host.directoriesOnDisk()).toHaveLength(1)
  const siteDirectories = await api.database.read.selectFrom('site_homes').select(['site_id', 'state']).execute()
  expect(siteDirectories).toEqual([{ site_id: site, state: 'taken' }])
  expect(await log()).toEqual([])
})

test('a front page that does not load is in the log, has an alert until a test succeeds, and leaves nothing behind', async () => {
  await take('fs')
  await take('db')
  page = () => ({ status: 500 })
  expect(await prove()).toMatchObject({ state: 'failed', error: 'its homepage responds with status 500' })
  expect(host.directoriesOnDisk()).toHaveLength(1)
  expect(await log()).toMatchObject([
    { site_id: site, message: expect.stringContaining('homepage responds with status 500') },
  ])
  const detail = expect.stringContaining('its homepage responds with status 500')
  expect(await alerts()).toEqual([['backup_proof_failed', detail, true]])
  // A second failure within a day is not in the log.
  await prove()
  expect([(await log()).length, await alerts()]).toEqual([1, [['backup_proof_failed', detail, true]]])
  page = () => ({ status: 200 })
  await prove()
  expect(await alerts()).toEqual([['backup_proof_failed', detail, false]])
})

test('also fails without the shared WordPress files, because an archive is incomplete without them', async () => {
  await take('fs')
  await take('db')
  await api.backups.removeOwner(coreOwner('6.8'))
  expect((await prove()).state).toBe('failed')
  expect(await log()).toHaveLength(1)
})

test('reports damage, and the next backups write that content again', async () => {
  await take('fs')
  await take('db')
  const { storage } = stored
  for (const { name } of await storage.list(`${siteOwner(site)}/packs/`)) {
    const bytes = (await storage.get(name)) as Buffer
    bytes.writeUInt8(bytes.readUInt8(20) ^ 1, 20)
    await storage.put(name, bytes)
  }
  expect(await prove()).toMatchObject({ state: 'failed', error: expect.stringContaining('is not what was written') })
  await take('fs')
  await take('db')
  expect(await prove()).toMatchObject({ state: 'succeeded', result: { files: 3, database: 4 } })
})

test('proves nothing, and blames no backup, on a host that lacks memory for one more PHP or is too busy', async () => {
  await take('fs')
  await take('db')
  start = () => undefined
  expect(await prove()).toMatchObject({ state: 'succeeded', result: { unproved: expect.stringContaining('memory') } })
  start = () => {
    throw new PhpTimeout('PHP was not ready in time')
  }
  expect(await prove()).toMatchObject({ state: 'succeeded', result: { unproved: expect.stringContaining('in time') } })
  expect(warnings).toEqual(Array(2).fill('skipped a test restore: no PHP process is available'))
  expect(host.directoriesOnDisk()).toHaveLength(1)
  expect([await log(), await alerts()]).toEqual([[], []])
})

test('proves nothing on a host whose disk is full', async () => {
  await take('fs')
  await take('db')
  start = () => {
    throw new DiskFull('The disk of the host is full')
  }
  expect(await prove()).toMatchObject({ state: 'succeeded', result: { unproved: 'The disk of the host is full' } })
  expect(warnings).toEqual(['skipped a test restore: the disk is full'])
})

test('a host that restarts removes a throw-away site directory that it left behind', async () => {
  await host.services.siteDirectories.makeThrowAway(await host.services.template())
  expect(host.directoriesOnDisk()).toHaveLength(2)
  await host.services.siteDirectories.reconcile({ isTakenOver: false })
  expect(host.directoriesOnDisk()).toHaveLength(1)
})
