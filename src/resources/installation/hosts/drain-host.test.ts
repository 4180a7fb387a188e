/** Tests of emptying a host while it runs, with two hosts that share a database and the backup storage. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { hostJobs } from '../../../jobs.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import { requestCancel } from '../../../platform/operations/control.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker, until } from '../../../platform/operations/harness.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { purgeSite } from '../../sites/remove/remove-site.job.ts'
import { restoreFromTrash } from '../../sites/remove/trash.ts'
import { changeSite, markDeleted } from '../../sites/site.store.ts'
import { drainHostJob } from './drain-host.job.ts'

let api: TestApi
let owner: Person
let hosts: [FakeHost, FakeHost]
const workers: Worker[] = []
beforeEach(async () => {
  api = await testApi('sqlite', { settings: { STEAD_BACKUP_DIR: '/backups' } })
  owner = await api.person('owner@example.com')
  const values = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
  await api.database.transaction(async (tx) => {
    await tx.updateTable('hosts').set({ name: 'near' }).execute()
    await tx.insertInto('hosts').values(values).execute()
  })
  const rows = await api.database.read.selectFrom('hosts').select('id').orderBy('id').execute()
  hosts = (await Promise.all(rows.map(({ id }) => fakeHost(api, { asked: id })))) as [FakeHost, FakeHost]
  const services = { config: api.config, database: api.database }
  workers.push(startWorker(api.database, [drainHostJob], { services, lookEveryMs: 20 }))
})
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(5000)
  for (const host of hosts) await host.close()
  await api.close()
})

/** @param views visits of the last week */
async function siteWith(name: string, views: number): Promise<number> {
  const id = await api.site(owner, name)
  await hosts[0].giveDirectory(id)
  await api.database.transaction(async (tx) => {
    await tx.updateTable('sites').set({ host_id: hosts[0].hostId }).where('id', '=', id).execute()
    await changeSite(tx, id, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1)
    await tx
      .insertInto('page_view_days')
      .values({ site_id: id, day: dayOf(Date.now()), views, people: 1 })
      .execute()
  })
  return id
}
const work = () => {
  for (const { hostId, services } of hosts)
    workers.push(startWorker(api.database, hostJobs, { runner: 'host', hostId, services, lookEveryMs: 20 }))
}
async function drain(body: object = {}): Promise<number> {
  const answer = await owner.call('PUT', '/v1/installation/hosts/near/drain', body)
  expect([answer.status, answer.body.errors, answer.body.data]).toEqual([
    200,
    null,
    { name: 'near', state: 'cordoned' },
  ])
  return Number(answer.headers['operation-id'])
}
const moves = async () => {
  const rows = api.database.read.selectFrom('operations').select(['site_id', 'created_at', 'finished_at'])
  return (await rows.where('type', '=', 'site.relocate').orderBy('id').execute()).map((row) => row)
}
const sitesOn = async (host: FakeHost) => {
  const rows = api.database.read.selectFrom('sites').select('id').where('host_id', '=', host.hostId).orderBy('id')
  return (await rows.execute()).map(({ id }) => id)
}

test('moves all sites but those that cannot, least visited first, two at a time, and then the trash', async () => {
  const [busy, quiet, middle] = [await siteWith('busy', 9), await siteWith('quiet', 1), await siteWith('middle', 5)]
  const stuck = await siteWith('stuck', 3)
  await api.database.transaction((tx) =>
    tx.updateTable('sites').set({ state: 'deploying' }).where('id', '=', stuck).execute(),
  )
  const gone = await siteWith('gone', 2)
  await api.database.transaction(async (tx) => {
    await tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', gone).execute()
    await enqueue(tx, purgeSite, { siteId: gone }, { siteId: gone, hostId: hosts[0].hostId })
    const purge = tx.updateTable('operations').set({ run_at: Date.UTC(2100, 0) })
    await purge.where('type', '=', purgeSite.name).execute()
  })
  const id = await drain({ to: 'far' })
  await until(async () => (await moves()).length === 2)
  work()
  const operation = await ended(api.database, id)
  expect(operation).toMatchObject({ state: 'succeeded', error: null })
  expect(operation.steps[0]?.warning).toBe(
    'Sites that stay where they are: stuck (This operation requires a live site, and this site is deploying)',
  )
  expect((await moves()).map(({ site_id }) => site_id)).toEqual([quiet, middle, busy])
  expect([await sitesOn(hosts[0]), await sitesOn(hosts[1])]).toEqual([[stuck], [busy, quiet, middle, gone]])
  const health = (await owner.call('GET', '/v1/installation')).body.data.health
  expect(health.hosts).toMatchObject([
    { sites: 1, deleted_sites: 0, deleted_until: null },
    { sites: 3, deleted_sites: 1, deleted_until: '2100-01-01T00:00:00.000Z' },
  ])
  const log = await api.database.read.selectFrom('activity').select('message').orderBy('id').execute()
  expect(log.at(-1)?.message).toBe('Sites moved off the host near: 4. Sites that stayed: 1')
})

test('a deleted site can be restored from the trash of its new host, and while it waits for its move', async () => {
  const trash = async (name: string) => {
    const id = await siteWith(name, 1)
    hosts[0].setTitle((await hosts[0].services.siteDirectories.ofSite(id))?.path as string, name)
    await api.database.transaction(async (tx) => {
      await markDeleted(tx, id, 1)
      const target = { siteId: id, hostId: hosts[0].hostId, runAt: Date.UTC(2100, 0) }
      await enqueue(tx, purgeSite, { siteId: id }, target)
    })
    return id
  }
  const restore = (name: string) =>
    api.database.transaction((tx) => restoreFromTrash(tx, name, { config: api.config, now: 2 }))
  const [moved, kept] = [await trash('moved'), await trash('kept')]
  const id = await drain({ at_once: 2 })
  await until(async () => {
    const rows = api.database.read.selectFrom('operations').select('id').where('type', '=', 'site.relocate_deleted')
    return (await rows.execute()).length === 2
  })
  expect((await restore('kept'))?.hostId).toBe(hosts[0].hostId)
  work()
  const operation = await ended(api.database, id)
  expect([operation.state, operation.steps[0]?.warning]).toEqual(['succeeded', null])
  // Restored, it is a site like others, and moves as one.
  expect(await sitesOn(hosts[1])).toEqual([moved, kept])
  expect((await restore('moved'))?.hostId).toBe(hosts[1].hostId)
  for (const [site, title] of [
    [moved, 'moved'],
    [kept, 'kept'],
  ] as const) {
    const directory = await hosts[1].services.siteDirectories.ofSite(site)
    expect(hosts[1].title(directory?.path as string)).toBe(title)
  }
  const configured = api.database.read.selectFrom('operations').select(['site_id', 'host_id'])
  expect(await configured.where('type', '=', 'site.configure').orderBy('id').execute()).toEqual([
    { site_id: kept, host_id: hosts[1].hostId },
    { site_id: moved, host_id: hosts[1].hostId },
  ])
})

test('begins no further move when it is canceled, or when the host is uncordoned', async () => {
  for (const name of ['one', 'two', 'three']) await siteWith(name, 1)
  const canceled = await drain()
  await until(async () => (await moves()).length === 2)
  await api.database.transaction((tx) => requestCancel(tx, canceled, Date.now()))
  expect((await ended(api.database, canceled)).state).toBe('canceled')
  const uncordoned = await drain()
  await owner.call('PUT', '/v1/installation/hosts/near/uncordon')
  work()
  expect((await ended(api.database, uncordoned)).state).toBe('succeeded')
  // The two that had begun.
  await until(async () => (await moves()).every(({ finished_at }) => finished_at !== null))
  expect([(await sitesOn(hosts[0])).length, (await moves()).length]).toEqual([1, 2])
})

test('begins no move while it is paused, also after a restart, and continues', async () => {
  for (const name of ['one', 'two', 'three']) await siteWith(name, 1)
  const id = await drain({ at_once: 1 })
  await until(async () => (await moves()).length === 1)
  const paused = await owner.call('POST', `/v1/operations/${id}/pause`)
  expect([paused.status, paused.body.data.state, paused.body.data.pausedAt]).toEqual([
    200,
    'running',
    expect.any(String),
  ])
  const actions = async () => (await owner.call('GET', `/v1/operations/${id}`)).body.data.actions
  expect((await actions()).map(({ action }: { action: string }) => action)).toEqual(['continue', 'cancel'])
  const [near] = (await owner.call('GET', '/v1/installation')).body.data.health.hosts
  expect(near).toMatchObject({ state: 'draining', drain: { operation: id, paused: true } })
  work()
  // The move that runs ends.
  await until(async () => (await moves())[0]?.finished_at !== null)
  await workers.shift()?.stop(5000)
  const services = { config: api.config, database: api.database }
  workers.push(startWorker(api.database, [drainHostJob], { services, lookEveryMs: 20 }))
  const runs = async () => (await findOperation(api.database.read, id))?.attempts
  await until(async () => (await runs()) === 2)
  expect([(await moves()).length, (await sitesOn(hosts[0])).length]).toEqual([1, 2])
  const at = Date.now()
  const continued = await owner.call('POST', `/v1/operations/${id}/continue`)
  expect([continued.status, continued.body.data.pausedAt]).toEqual([200, null])
  expect((await ended(api.database, id)).state).toBe('succeeded')
  const all = await moves()
  expect([all.length, await sitesOn(hosts[0])]).toEqual([3, []])
  for (const { created_at } of all.slice(1)) expect(created_at).toBeGreaterThanOrEqual(at)
  const log = api.database.read.selectFrom('activity').select('action').where('action', 'like', 'operation.%')
  expect((await log.orderBy('id').execute()).map(({ action }) => action)).toEqual([
    'operation.paused',
    'operation.continued',
  ])
})

test('moves one site after the other if asked', async () => {
  for (const name of ['one', 'two', 'three']) await siteWith(name, 1)
  work()
  expect((await ended(api.database, await drain({ at_once: 1 }))).state).toBe('succeeded')
  const all = await moves()
  expect(all).toHaveLength(3)
  for (const [at, { created_at }] of all.slice(1).entries())
    expect(created_at).toBeGreaterThanOrEqual(all[at]?.finished_at as number)
})

test('begins no move outside of its window, and none after its deadline', async () => {
  const site = await siteWith('one', 1)
  const hour = new Date().getUTCHours()
  const clock = (hours: number) => `${String((hour + hours) % 24).padStart(2, '0')}:00`
  const closed = await drain({ window: `${clock(2)}-${clock(3)}` })
  await until(async () => (await findOperation(api.database.read, closed))?.state === 'running')
  await owner.call('PUT', '/v1/installation/hosts/near/uncordon')
  expect((await ended(api.database, closed)).state).toBe('succeeded')
  expect(await moves()).toEqual([])
  await owner.call('PUT', '/v1/installation/hosts/near/cordon')
  const order = { host: 'near', deadline: '2026-01-01T05:00:00Z' }
  const options = { accountId: owner.accountId }
  const late = await api.database.transaction((tx) => enqueue(tx, drainHostJob, order, options))
  const { steps } = await ended(api.database, late)
  expect(steps[0]?.warning).toBe('Sites that stay where they are: one (the deadline has passed)')
  expect([await moves(), await sitesOn(hosts[0])]).toEqual([[], [site]])
})
