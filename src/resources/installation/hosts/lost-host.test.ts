/**
 * Tests of a lost host: what happens to its sites and operations, by the database and with directories on real disks.
 */
import { existsSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { loadRoute } from '../../../edge/routing/routes.store.ts'
import { hostJobs, jobs } from '../../../jobs.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker, until } from '../../../platform/operations/harness.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { backupIn, nameIn } from '../../backups/backups.fixture.ts'
import { takeBackup } from '../../backups/take/take-backup.ts'
import { provisionSite } from '../../sites/create/provision-site.job.ts'
import { configureSite } from '../../sites/switches/configure-site.job.ts'
import { evacuateHosts, evacuateOften } from './evacuate-hosts.job.ts'
import { setHostState } from './host-changes.store.ts'

describe.each(dialects)('a lost host on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let lost: number
  let other: number
  let hosts: FakeHost[]
  let workers: Worker[]
  beforeEach(async (context) => {
    if (skip) return context.skip()
    hosts = []
    workers = []
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    const values = { address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}' }
    const [first, second] = await api.database.transaction(async (tx) => {
      const own = await tx.selectFrom('hosts').select('id').executeTakeFirstOrThrow()
      const made = tx.insertInto('hosts').values({ ...values, name: 'other', seen_at: Date.UTC(2100, 0) })
      return [own.id, (await made.returning('id').executeTakeFirstOrThrow()).id]
    })
    lost = first
    other = second
  })
  afterEach(async () => {
    for (const worker of workers ?? []) await worker.stop(5000)
    for (const host of hosts ?? []) await host.close()
    await api?.close()
  })

  const lose = () => api.database.transaction((tx) => setHostState(tx, lost, { state: 'lost', now: 1 }))
  /** Runs the job that assigns the sites to other hosts. */
  async function evacuate() {
    const services = { config: api.config, database: api.database, definitions: jobs }
    const worker = startWorker(api.database, [evacuateHosts], { services: services as never, lookEveryMs: 20 })
    const id = await api.database.transaction((tx) => enqueue(tx, evacuateHosts, {}))
    const operation = await ended(api.database, id)
    await worker.stop(5000)
    expect(operation.state).toBe('succeeded')
  }
  const work = (siteId: number, values?: object) =>
    api.database.transaction(async (tx) => {
      const id = await enqueue(tx, configureSite, { siteId }, { siteId, accountId: owner.accountId, hostId: lost })
      if (values) await tx.updateTable('operations').set(values).where('id', '=', id).execute()
      return id
    })
  const begun = { state: 'running', started_at: 1, lease_owner: 'w', lease_until: 1 }
  const backedUp = async (name: string) => {
    const siteId = await api.site(owner, name)
    await api.home(siteId)
    for (const kind of ['fs', 'db'] as const) await backupIn(api, siteId, { kind })
    return siteId
  }
  const hostOf = async (siteId: number) => {
    const { read } = api.database
    const site = await read.selectFrom('sites').select('host_id').where('id', '=', siteId).executeTakeFirstOrThrow()
    const homes = await read.selectFrom('site_homes').select('host_id').where('site_id', '=', siteId).execute()
    return [site.host_id, ...homes.map(({ host_id }) => host_id)]
  }
  const operations = async (siteId: number) => {
    const rows = await api.database.read
      .selectFrom('operations')
      .select(['type', 'state', 'host_id', 'error'])
      .where('site_id', '=', siteId)
      .orderBy('id')
      .execute()
    return rows.map(({ type, state, host_id, error }) => [type, state, host_id, error])
  }
  const hostWithWorker = async (hostId: number) => {
    const host = await fakeHost(api, { asked: hostId })
    hosts.push(host)
    workers.push(
      startWorker(api.database, hostJobs, {
        ...{ runner: 'host', hostId, services: host.services as never, lookEveryMs: 20 },
      }),
    )
    return host
  }

  test('closes its sites and recovers them on another host, and queued operations wait for that', async () => {
    const here = await fakeHost(api, { asked: lost })
    hosts.push(here)
    const siteId = await api.site(owner, 'shop')
    await api.database.transaction((tx) =>
      tx
        .insertInto('routes')
        .values({ host_name: 'shop.localhost', site_id: siteId, is_domain: 0, changed_at: 1 })
        .execute(),
    )
    const directory = await here.giveDirectory(siteId)
    await writeFile(join(directory, 'web/page.txt'), 'kept')
    here.setTitle(directory, 'kept')
    for (const kind of ['fs', 'db'] as const) {
      const backup = await backupIn(api, siteId, { kind })
      const { signal } = new AbortController()
      await takeBackup(here.services, { siteId, name: await nameIn(api, backup), kind, signal })
    }
    const queued = await work(siteId)
    await lose()
    await evacuate()
    const found = await loadRoute(api.database.read, 'shop.localhost')
    expect(found).toMatchObject({ upstream: 'http://127.0.0.1:2', isClosed: true })
    const recovery = (await operations(siteId)).at(-1)
    expect(recovery).toEqual(['site.bring_back', 'queued', other, null])
    const there = await hostWithWorker(other)
    await until(async () => (await findOperation(api.database.read, queued))?.finishedAt != null)
    expect((await operations(siteId)).slice(0, 2)).toEqual([
      ['site.configure', 'succeeded', other, null],
      ['site.bring_back', 'succeeded', other, null],
    ])
    const again = (await there.services.siteDirectories.ofSite(siteId))?.path as string
    expect([readFileSync(join(again, 'web/page.txt'), 'utf8'), there.title(again)]).toEqual(['kept', 'kept'])
    expect(await hostOf(siteId)).toEqual([other, other])
    const log = await api.database.read.selectFrom('activity').select('message').where('site_id', '=', siteId).execute()
    expect(log.map(({ message }) => message)).toContain(
      'The site was recovered from its backups after the loss of the host h.',
    )
    // The lost host destroys nothing when it starts again.
    await here.services.siteDirectories.reconcile({ isTakenOver: false })
    expect([existsSync(directory), existsSync(again)]).toEqual([false, true])
  })

  test('starts with the most visited site, and ends running operations with a reason', async () => {
    const [quiet, busy] = [await backedUp('quiet'), await backedUp('busy')]
    const cutOff = await work(quiet, begun)
    await api.database.transaction((tx) =>
      tx
        .insertInto('page_view_days')
        .values({ site_id: busy, day: dayOf(Date.now()), views: 9, people: 1 })
        .execute(),
    )
    await lose()
    await evacuate()
    const order = await api.database.read
      .selectFrom('operations')
      .select('site_id')
      .where('type', '=', 'site.bring_back')
      .orderBy('id')
      .execute()
    expect(order.map(({ site_id }) => site_id)).toEqual([busy, quiet])
    expect(await findOperation(api.database.read, cutOff)).toMatchObject({
      state: 'failed',
      error: 'The host h was lost during this operation. Start the operation again.',
    })
  })

  test('keeps a site whose only copy is on the lost disk, and one without a place elsewhere, and ends their operations with a reason', async () => {
    const only = await api.site(owner, 'only-copy')
    await api.home(only)
    await work(only)
    await lose()
    await evacuate()
    expect(await hostOf(only)).toEqual([lost, lost])
    const why = 'The host h is lost, and the site has no complete backup to recover from'
    expect(await operations(only)).toEqual([['site.configure', 'failed', lost, why]])
    const placeless = await backedUp('placeless')
    await work(placeless)
    await api.database.transaction((tx) =>
      tx.updateTable('hosts').set({ state: 'cordoned' }).where('id', '=', other).execute(),
    )
    await evacuate()
    expect((await operations(placeless))[0]?.[3]).toMatch(/^The host h is lost, and no other host in \w+ has room/)
    // It is moved when a host has a free place.
    await api.database.transaction((tx) =>
      tx.updateTable('hosts').set({ state: 'active' }).where('id', '=', other).execute(),
    )
    await evacuate()
    expect(await hostOf(placeless)).toEqual([other, other])
  })

  test('creates a site on the other host that was being created', async () => {
    const siteId = await api.site(owner, 'new-site')
    await api.home(siteId)
    await api.database.transaction(async (tx) => {
      await tx.updateTable('sites').set({ state: 'deploying', core_version: null }).where('id', '=', siteId).execute()
      const target = { siteId, accountId: owner.accountId, hostId: lost }
      const id = await enqueue(tx, provisionSite, { siteId }, target)
      await tx
        .updateTable('operations')
        .set(begun as object)
        .where('id', '=', id)
        .execute()
      const done = { state: 'succeeded', started_at: 1, finished_at: 1 } as const
      await tx
        .updateTable('operation_steps')
        .set(done)
        .where('operation_id', '=', id)
        .where('name', '=', 'home')
        .execute()
    })
    await lose()
    await evacuate()
    expect(await operations(siteId)).toEqual([['site.provision', 'queued', other, null]])
    await hostWithWorker(other)
    await until(async () => (await operations(siteId))[0]?.[1] === 'succeeded')
    expect(await hostOf(siteId)).toEqual([other, other])
  })

  test('ends operations of the host itself, and leaves those of its recovered sites', async () => {
    const siteId = await backedUp('shop')
    const ofSite = await work(siteId)
    const ofHost = await api.database.transaction((tx) => enqueue(tx, configureSite, { siteId }, { hostId: lost }))
    await lose()
    await evacuate()
    const { read } = api.database
    expect(await findOperation(read, ofHost)).toMatchObject({ state: 'failed', error: 'The host h is lost' })
    expect((await findOperation(read, ofSite))?.state).toBe('queued')
  })

  test('finishes the deletion of its site on another host, within a minute or two', async () => {
    const siteId = await api.site(owner, 'gone')
    await api.home(siteId)
    await lose()
    await owner.call('DELETE', `/v1/sites/${siteId}`)
    expect(evacuateOften.everyMs).toBeLessThanOrEqual(60_000)
    await evacuate()
    await hostWithWorker(other)
    await until(async () => (await operations(siteId))[0]?.[1] === 'succeeded')
    expect((await operations(siteId)).map(([type, , hostId]) => [type, hostId])).toEqual([
      ['site.remove', other],
      ['site.purge', other],
    ])
  })
})
