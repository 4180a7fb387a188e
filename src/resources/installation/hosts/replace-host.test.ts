/** Tests of replacing a host while it runs, with two hosts that share a database and the backup storage. */
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { hostJobs, jobs } from '../../../jobs.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker, until } from '../../../platform/operations/harness.ts'
import { findOperation } from '../../../platform/operations/read.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { purgeSite } from '../../sites/remove/remove-site.job.ts'
import { changeSite } from '../../sites/site.store.ts'
import { replaceHostJob } from './replace-host.job.ts'

let api: TestApi
let owner: Person
let hosts: [FakeHost, FakeHost]
const workers: Worker[] = []
beforeEach(async () => {
  api = await testApi('sqlite', { settings: { STEAD_BACKUP_DIR: '/backups' } })
  owner = await api.person('owner@example.com')
  const values = { name: 'far', address: 'http://127.0.0.1:2', datacenters: '', max_sites: 2, facts: '{}', seen_at: 0 }
  await api.database.transaction(async (tx) => {
    await tx.updateTable('hosts').set({ name: 'near' }).execute()
    await tx.insertInto('hosts').values(values).execute()
  })
  const rows = await api.database.read.selectFrom('hosts').select('id').orderBy('id').execute()
  hosts = (await Promise.all(rows.map(({ id }) => fakeHost(api, { asked: id })))) as [FakeHost, FakeHost]
  const services = { config: api.config, database: api.database, definitions: jobs }
  workers.push(startWorker(api.database, [replaceHostJob], { services, lookEveryMs: 20 }))
})
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.stop(5000)
  for (const host of hosts) await host.close()
  await api.close()
})

async function siteOnNear(name: string): Promise<number> {
  const id = await api.site(owner, name)
  await hosts[0].giveDirectory(id)
  await api.database.transaction(async (tx) => {
    await tx.updateTable('sites').set({ host_id: hosts[0].hostId }).where('id', '=', id).execute()
    await changeSite(tx, id, { writtenAddress: 'old.example.com', coreVersion: '6.8' }, 1)
  })
  return id
}
const work = () => {
  for (const { hostId, services } of hosts)
    workers.push(startWorker(api.database, hostJobs, { runner: 'host', hostId, services, lookEveryMs: 20 }))
}
async function replace(): Promise<number> {
  const answer = await owner.call('PUT', '/v1/installation/hosts/near/replace', { to: 'far' })
  expect([answer.status, answer.body.errors, answer.body.data]).toEqual([
    200,
    null,
    { name: 'near', state: 'cordoned' },
  ])
  return Number(answer.headers['operation-id'])
}
const stateOf = async (name: string) => {
  const rows = api.database.read.selectFrom('hosts').select('state').where('name', '=', name)
  return (await rows.executeTakeFirstOrThrow()).state
}
const sitesOn = async (host: FakeHost) => {
  const rows = api.database.read.selectFrom('sites').select('id').where('host_id', '=', host.hostId).orderBy('id')
  return (await rows.execute()).map(({ id }) => id)
}
const openOnNear = async () => {
  const rows = api.database.read.selectFrom('operations').select('type').where('host_id', '=', hosts[0].hostId)
  return (await rows.where('finished_at', 'is', null).execute()).map(({ type }) => type)
}
const lastEntry = async () =>
  (await api.database.read.selectFrom('activity').select('message').orderBy('id').execute()).at(-1)?.message

test('moves all sites, removes their copies and the host, and revokes its certificate', async () => {
  const sites = [await siteOnNear('one'), await siteOnNear('two')]
  await api.database.transaction(async (tx) => {
    const values = {
      serial: 'near',
      role: 'host' as const,
      name: 'near',
      issued_at: 1,
      expires_at: 9e15,
      revoked_at: null,
    }
    await tx.insertInto('role_certificates').values(values).execute()
    // An operation for a later time would wait for a host that is gone.
    await enqueue(tx, purgeSite, { siteId: 0 }, { hostId: hosts[0].hostId, afterMs: 86_400_000 })
  })
  const id = await replace()
  expect(await replace()).toBe(id)
  work()
  expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded', error: null })
  expect([await stateOf('near'), await sitesOn(hosts[0]), await sitesOn(hosts[1])]).toEqual(['removed', [], sites])
  expect([hosts[0].directoriesOnDisk(), await openOnNear()]).toEqual([[], []])
  const certificates = api.database.read.selectFrom('role_certificates').select('revoked_at')
  expect(await certificates.execute()).toEqual([{ revoked_at: expect.any(Number) }])
  expect(await lastEntry()).toBe('Replaced the host near with far, and removed it. Sites moved: 2')
})

test('keeps a host, cordoned, on which a site or a deleted site stays, and says why', async () => {
  const sites = [await siteOnNear('one'), await siteOnNear('two'), await siteOnNear('three')]
  work()
  const full = await ended(api.database, await replace())
  expect([full.state, full.error]).toEqual([
    'failed',
    expect.stringMatching(/^The host is kept\. Sites that stay where they are: \w+ \(host: far cannot take the site/),
  ])
  expect([await stateOf('near'), (await sitesOn(hosts[0])).length]).toEqual(['cordoned', 1])
  expect(await lastEntry()).toMatch(/^Replacing the host near with far failed: The host is kept/)
  const [left] = (await sitesOn(hosts[0])) as [number]
  expect(sites).toContain(left)
  await api.database.transaction((tx) =>
    tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', left).execute(),
  )
  const trash = await ended(api.database, await replace())
  expect([trash.state, trash.error]).toEqual([
    'failed',
    expect.stringMatching(
      /^The host is kept\. Sites that stay where they are: \w+, deleted \(host: far cannot take .*Deleted sites in the trash that stay on the host: 1$/,
    ),
  ])
  expect(await stateOf('near')).toBe('cordoned')
})

test('removes no copies and no host while it is paused', async () => {
  await siteOnNear('one')
  const id = await replace()
  await until(async () => (await openOnNear()).includes('site.relocate'))
  await owner.call('POST', `/v1/operations/${id}/pause`)
  work()
  await until(async () => (await sitesOn(hosts[1])).length === 1)
  await until(async () => (await openOnNear()).every((type) => type === 'site.remove_copy'))
  expect([(await findOperation(api.database.read, id))?.state, await stateOf('near')]).toEqual(['running', 'cordoned'])
  expect(hosts[0].directoriesOnDisk()).toHaveLength(1)
  const at = Date.now()
  await owner.call('POST', `/v1/operations/${id}/continue`)
  expect((await ended(api.database, id)).state).toBe('succeeded')
  expect(await stateOf('near')).toBe('removed')
  const removals = api.database.read
    .selectFrom('operations')
    .select('started_at')
    .where('type', '=', 'site.remove_copy')
  for (const { started_at } of await removals.execute()) expect(started_at).toBeGreaterThanOrEqual(at)
})

test('keeps a host that was uncordoned meanwhile', async () => {
  await siteOnNear('one')
  const uncordoned = await replace()
  await until(async () => (await openOnNear()).includes('site.relocate'))
  await owner.call('PUT', '/v1/installation/hosts/near/uncordon')
  work()
  expect(await ended(api.database, uncordoned)).toMatchObject({
    state: 'failed',
    error: 'The host is kept: it is active',
  })
  expect(await stateOf('near')).toBe('active')
})
