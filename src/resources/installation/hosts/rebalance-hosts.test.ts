/** Tests of moving sites to emptier hosts, with two hosts that share a database and the backup storage. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { hostJobs } from '../../../jobs.ts'
import { dayOf } from '../../../platform/log-store/days.ts'
import { ended, startWorker } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { changeSite } from '../../sites/site.store.ts'
import { storeUsages } from '../../statistics/statistics.store.ts'
import { rebalanceHostsJob } from './rebalance-hosts.job.ts'

let api: TestApi
let owner: Person
let hosts: [FakeHost, FakeHost]
const workers: Worker[] = []
beforeEach(async () => {
  api = await testApi('sqlite', { settings: { STEAD_BACKUP_DIR: '/backups' } })
  owner = await api.person('owner@example.com')
  const values = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 9, facts: '{}', seen_at: 0 }
  await api.database.transaction(async (tx) => {
    await tx.updateTable('hosts').set({ name: 'near', max_sites: 9 }).execute()
    await tx.insertInto('hosts').values(values).execute()
  })
  const rows = await api.database.read.selectFrom('hosts').select('id').orderBy('id').execute()
  hosts = (await Promise.all(rows.map(({ id }) => fakeHost(api, { asked: id })))) as [FakeHost, FakeHost]
})
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(5000)
  for (const host of hosts) await host.close()
  await api.close()
})

/** @param views visits of the last week */
async function siteWith(name: string, views: number, fileBytes: number): Promise<number> {
  const id = await api.site(owner, name)
  await hosts[0].giveDirectory(id)
  await api.database.transaction(async (tx) => {
    await tx.updateTable('sites').set({ host_id: hosts[0].hostId }).where('id', '=', id).execute()
    await changeSite(tx, id, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1)
    const today = dayOf(Date.now())
    const days = [
      { day: today, views },
      { day: today - 30, views: 1e6 },
    ]
    await tx
      .insertInto('page_view_days')
      .values(days.map((each) => ({ ...each, site_id: id, people: 1 })))
      .execute()
    await storeUsages(tx, new Map([[id, { databaseBytes: 0, fileBytes }]]), 1)
  })
  return id
}
const rebalance = (body: object = {}) => owner.call('POST', '/v1/installation/hosts/rebalance', body)
const placesOf = async () => {
  const rows = api.database.read.selectFrom('sites').innerJoin('hosts', 'hosts.id', 'sites.host_id')
  const places = await rows.select(['sites.name', 'hosts.name as host']).orderBy('sites.id').execute()
  return Object.fromEntries(places.map(({ name, host }) => [name, host]))
}

test('lists the moves with their reasons, runs them with one operation, and moves nothing back', async () => {
  await siteWith('large', 3, 300)
  const small = await siteWith('small', 1, 100)
  const planned = await rebalance({ dry_run: true })
  const move = {
    ...{ site_id: small, site: 'small', from: 'near', to: 'far', disk_bytes: 100, visits: 1 },
    reason: 'near has 200 % of its fair share, and far has 0 %.',
  }
  const loads = [
    { name: 'near', load: 200, load_after: 150 },
    { name: 'far', load: 0, load_after: 50 },
  ]
  expect([planned.status, planned.body.data]).toEqual([200, { moves: [move], hosts: loads }])
  expect(planned.headers['operation-id']).toBeUndefined()
  const answer = await rebalance()
  expect(answer.body.data).toEqual(planned.body.data)
  expect((await rebalance()).body.code).toBe('rebalance_open')
  for (const { hostId, services } of hosts)
    workers.push(startWorker(api.database, hostJobs, { runner: 'host', hostId, services, lookEveryMs: 20 }))
  const services = { config: api.config, database: api.database }
  workers.push(startWorker(api.database, [rebalanceHostsJob], { services, lookEveryMs: 20 }))
  const operation = await ended(api.database, Number(answer.headers['operation-id']))
  expect(operation).toMatchObject({ state: 'succeeded', error: null })
  expect(await placesOf()).toEqual({ large: 'near', small: 'far' })
  const log = await api.database.read.selectFrom('activity').select('message').orderBy('id').execute()
  expect(log.map(({ message }) => message)).toContain('Requested to move sites to emptier hosts: 1')
  expect(log.at(-1)?.message).toBe('Sites moved to emptier hosts: 1. Sites that stayed: 0')
  const [again] = [await rebalance()]
  expect([again.body.data.moves, again.headers['operation-id']]).toEqual([[], undefined])
  // What moved stays for a week, even when all visits change.
  await api.database.transaction((tx) => tx.updateTable('page_view_days').set({ views: 0 }).execute())
  await api.database.transaction((tx) =>
    tx.updateTable('page_view_days').set({ views: 9 }).where('site_id', '=', small).execute(),
  )
  await siteWith('new', 1, 1)
  await api.database.transaction((tx) => tx.updateTable('sites').set({ host_id: hosts[1].hostId }).execute())
  const next = (await rebalance({ dry_run: true })).body.data.moves.map(({ site }: { site: string }) => site)
  expect([next.includes('large'), next.includes('small')]).toEqual([true, false])
})

test('takes no sites from hosts that are cordoned, and gives them none', async () => {
  for (const name of ['one', 'two', 'three']) await siteWith(name, 1, 1)
  const cordon = (name: string) => owner.call('PUT', `/v1/installation/hosts/${name}/cordon`)
  const moves = async () => (await rebalance({ dry_run: true, most: 1 })).body.data.moves
  expect(await moves()).toHaveLength(1)
  for (const name of ['near', 'far']) {
    await cordon(name)
    expect(await moves()).toEqual([])
    await owner.call('PUT', `/v1/installation/hosts/${name}/uncordon`)
  }
})
