import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { testBackups } from '../../../backups/backup-store.fixture.ts'
import type { BackupStore } from '../../../backups/backup-store.ts'
import { hostJobs } from '../../../jobs.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { putRoute } from '../addresses/route.store.ts'
import { changeSite } from '../site.store.ts'

/* Two hosts that share a database and the backup storage. The source of the clone is on the first. */

let api: TestApi
let owner: Person
let near: FakeHost
let far: FakeHost
let siteId: number
let number = 0
const workers: Worker[] = []
beforeAll(async () => {
  api = await testApi('sqlite', { settings: { STEAD_BACKUP_DIR: '/backups' } })
  owner = await api.person('owner@example.com')
  const values = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
  await api.database.transaction((tx) => tx.insertInto('hosts').values(values).execute())
})
afterAll(() => api.close())
beforeEach(async () => {
  const rows = await api.database.read.selectFrom('hosts').select('id').orderBy('id').execute()
  const [one, other] = rows.map(({ id }) => id)
  near = await fakeHost(api, { asked: one as number })
  far = await fakeHost(api, { asked: other as number })
  await set(near, { state: 'active', datacenters: '', max_sites: 1000, counted_sites: 0 })
  await set(far, { state: 'active', datacenters: '', max_sites: 1000, counted_sites: 0, facts: '{}' })
  siteId = await newSite()
})
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop(5000)))
  await Promise.all([near, far].map((host) => host.close()))
})

const set = (host: FakeHost, values: object) =>
  api.database.transaction((tx) => tx.updateTable('hosts').set(values).where('id', '=', host.hostId).execute())

function work(host: FakeHost, backups?: BackupStore) {
  const services = { ...host.services, ...(backups && { backups }) }
  workers.push(startWorker(api.database, hostJobs, { runner: 'host', hostId: host.hostId, services, lookEveryMs: 20 }))
}

const THEME = 'web/wp-content/themes/style.css'
const MADE = 'web/wp-content/uploads/made.css'

async function newSite(): Promise<number> {
  const name = `source-${++number}`
  const id = await api.site(owner, name)
  await api.database.transaction(async (tx) => {
    await tx.updateTable('sites').set({ host_id: near.hostId }).where('id', '=', id).execute()
    await putRoute(tx, id, `${name}.localhost`, 1)
    await changeSite(tx, id, { writtenAddress: `${name}.localhost:8081`, coreVersion: '6.8' }, 1)
  })
  const directory = await near.giveDirectory(id)
  for (const folder of ['themes', 'uploads'])
    await mkdir(join(directory, 'web/wp-content', folder), { recursive: true })
  await writeFile(join(directory, THEME), 'theme')
  await writeFile(join(directory, MADE), `@import "//${name}.localhost:8081/a.css"`)
  near.setTitle(directory, 'Source')
  const opened = new DatabaseSync(join(directory, 'private/database/site.sqlite'))
  const address = "update wp_options set option_value = ? where option_name in ('home', 'siteurl')"
  opened.prepare(address).run(`http://${name}.localhost:8081`)
  opened.close()
  return id
}

const order = (body: object = {}) =>
  owner.call('POST', `/v1/sites/${siteId}/clone`, { name: `copy-${++number}`, ...body })

async function cloned(body: object = {}) {
  const { status, headers, body: answer } = await order(body)
  expect([status, answer.errors]).toEqual([200, null])
  const { host_id } = await api.database.read
    .selectFrom('sites')
    .select('host_id')
    .where('id', '=', answer.data.id)
    .executeTakeFirstOrThrow()
  return {
    id: answer.data.id as number,
    hostId: host_id,
    operationId: Number(headers['operation-id']),
    data: answer.data,
  }
}

const backupsOf = (id: number) =>
  api.database.read
    .selectFrom('backups')
    .select(['kind', 'origin', 'state'])
    .where('site_id', '=', id)
    .orderBy('id')
    .execute()

test('stays on the host of the source, which needs no backup, although another has more room', async () => {
  await set(near, { max_sites: 900 })
  expect((await cloned()).hostId).toBe(near.hostId)
  expect(await backupsOf(siteId)).toEqual([])
})

test.each([
  ['is cordoned', { state: 'cordoned' }],
  ['has no room', { max_sites: 0 }],
  ['serves another datacenter', { datacenters: 'AMS' }],
])('is created on another host from backups of the source, if its host %s', async (_, values) => {
  await set(near, values)
  const datacenter = 'datacenters' in values ? { datacenter_code: 'DFW' } : {}
  for (const host of [near, far]) work(host)
  const { id, hostId, operationId, data } = await cloned(datacenter)
  expect(hostId).toBe(far.hostId)
  expect(await ended(api.database, operationId)).toMatchObject({ state: 'succeeded', error: null })
  const { path } = (await far.services.siteDirectories.ofSite(id)) ?? { path: '' }
  const address = `${data.name}.localhost:8081`
  expect(await readFile(join(path, THEME), 'utf8')).toBe('theme')
  expect(await readFile(join(path, MADE), 'utf8')).toBe(`@import "//${address}/a.css"`)
  expect([far.title(path), far.option(path, 'siteurl')]).toEqual(['Source', `http://${address}`])
  expect((await owner.call('GET', `/v1/sites/${id}`)).body.data).toMatchObject({
    ...{ state: 'live', datacenterCode: 'datacenters' in values ? 'DFW' : data.datacenterCode },
  })
  expect(await backupsOf(siteId)).toEqual([
    { kind: 'db', origin: 'undo', state: 'completed' },
    { kind: 'fs', origin: 'undo', state: 'completed' },
  ])
  expect((await owner.call('GET', `/v1/sites/${siteId}`)).body.data.state).toBe('live')
})

test('503 and no backup, if no other host can run the source', async () => {
  await set(near, { max_sites: 0 })
  await set(far, { facts: JSON.stringify({ hasWasm: false }) })
  expect((await order()).status).toBe(503)
  await set(far, { facts: '{}', state: 'cordoned' })
  expect((await order()).status).toBe(503)
  expect(await backupsOf(siteId)).toEqual([])
})

test('400 names the datacenters that can have the clone', async () => {
  await set(near, { datacenters: 'AMS' })
  await set(far, { datacenters: 'BUR' })
  const { status, body } = await order({ datacenter_code: 'DFW' })
  expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('these codes: AMS, BUR')])
})

test('leaves no clone and says why, if the hosts do not see the same storage', async () => {
  await set(near, { max_sites: 0 })
  const { backups, close } = await testBackups()
  work(near)
  work(far, backups)
  const { id, operationId } = await cloned()
  const found = await ended(api.database, operationId)
  expect(found).toMatchObject({ state: 'failed', error: expect.stringContaining('the same backup storage') })
  expect(await far.services.siteDirectories.ofSite(id)).toBeUndefined()
  await close()
})
