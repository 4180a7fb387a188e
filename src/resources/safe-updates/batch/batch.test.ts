import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { everyPlugin, type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { requestCancel, requeueOperation } from '../../../platform/operations/control.ts'
import { definitionsByName } from '../../../platform/operations/definition.ts'
import { ended, startWorker, until } from '../../../platform/operations/harness.ts'
import { setPaused } from '../../../platform/operations/pause.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { withReleases } from '../../cms-version/cms-version.fixture.ts'
import { withPlugins } from '../../plugins/plugins.fixture.ts'
import { markDeleted } from '../../sites/site.store.ts'
import { endReport } from '../safe-update.store.ts'
import { olderBatches } from './batch.store.ts'
import { MOST_OPEN, UPDATES_AT_ONCE } from './batch.ts'
import { rememberedDirectory } from './begin-one.ts'
import { updateManySafelyJob } from './update-many-safely.job.ts'

describe.each(dialects)('safe updates of many sites on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let worker: Worker | undefined
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(async () => {
    await worker?.stop(100)
    await api?.close()
  })

  const work = () => {
    const services = { database: api.database, config: api.config, pluginDirectory: everyPlugin }
    worker = startWorker(api.database, [updateManySafelyJob], { services, lookEveryMs: 20 })
  }
  /** A site with the plugin `forms`, on a host of its own. */
  async function siteOn(host: string, name: string): Promise<number> {
    const values = { name: host, address: '', datacenters: '', max_sites: 99, facts: '{}', seen_at: 0 }
    const id = await api.site(owner, name)
    await api.database.transaction(async (tx) => {
      const known = await tx.selectFrom('hosts').select('id').where('name', '=', host).executeTakeFirst()
      const made = known ?? (await tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow())
      await tx.updateTable('sites').set({ host_id: made.id, state: 'live' }).where('id', '=', id).execute()
    })
    await withPlugins(api, id, 'forms')
    return id
  }
  const sitesOn = async (count: number, host?: string): Promise<number[]> => {
    const made: number[] = []
    for (let n = 1; n <= count; n++) made.push(await siteOn(host ?? `host-${n}`, `${host ?? 'shop'}-${n}`))
    return made
  }
  const plugins = [{ path: 'forms' }]
  async function order(siteIds: readonly number[], body: object = { plugins }, by = owner): Promise<number> {
    const answer = await by.call('POST', '/v1/safe-updates', { siteIds, ...body })
    expect([answer.status, answer.body.errors]).toEqual([200, null])
    return Number(answer.headers['operation-id'])
  }
  const batch = async (id: number) => (await owner.call('GET', `/v1/safe-updates/${id}`)).body.data
  const statesOf = async (id: number): Promise<string[]> =>
    (await batch(id)).sites.map(({ state }: { state: string }) => state)
  const reasonsOf = async (id: number): Promise<(string | null)[]> =>
    (await batch(id)).sites.map(({ reason }: { reason: string | null }) => reason)
  const open = () =>
    api.database.read
      .selectFrom('operations')
      .select(['id', 'site_id', 'host_id', 'asked_by_id', 'input'])
      .where('type', '=', 'plugin.update_safely')
      .where('finished_at', 'is', null)
      .orderBy('id')
      .execute()
  const running = async (count: number) => until(async () => (await open()).length === count && open())
  /** Ends the update of a site, as its own operation does. */
  const end = (siteId: number, state: 'kept' | 'undone', reason: string | null = null) =>
    api.database.transaction(async (tx) => {
      const { id } = await tx
        .selectFrom('operations')
        .select('id')
        .where('type', '=', 'plugin.update_safely')
        .where('site_id', '=', siteId)
        .where('finished_at', 'is', null)
        .executeTakeFirstOrThrow()
      const ending = { state: state === 'kept' ? 'succeeded' : 'failed', finished_at: 1 } as const
      await tx.updateTable('operations').set(ending).where('id', '=', id).execute()
      await endReport(tx, id, { state, reason, now: 1 })
    })
  const change = (siteId: number, set: object) =>
    api.database.transaction((tx) => tx.updateTable('sites').set(set).where('id', '=', siteId).execute())

  test('run a few at a time, and one on each host', async () => {
    const sites = await sitesOn(UPDATES_AT_ONCE + 1)
    const twin = await siteOn('host-1', 'twin')
    const id = await order([...sites, twin])
    expect((await batch(id)).counts).toMatchObject({ waiting: UPDATES_AT_ONCE + 2, in_progress: 0 })
    work()
    const first = await running(UPDATES_AT_ONCE)
    expect(first.map(({ site_id }) => site_id)).toEqual(sites.slice(0, UPDATES_AT_ONCE))
    expect(first.map(({ asked_by_id }) => asked_by_id)).toEqual(Array(UPDATES_AT_ONCE).fill(owner.accountId))
    expect(JSON.parse(first[0]?.input as string)).toMatchObject({ plugins: [{ path: 'forms' }], paths: [] })
    await end(sites[1] as number, 'kept')
    // The place goes to a host that has no update, and not to the twin of the first site.
    await until(async () => (await open()).some(({ site_id }) => site_id === sites.at(-1)))
    expect((await open()).map(({ site_id }) => site_id)).not.toContain(twin)
    for (const site of sites.filter((each) => each !== sites[1])) await end(site, 'kept')
    await until(async () => (await open()).some(({ site_id }) => site_id === twin))
    await end(twin, 'kept')
    expect((await ended(api.database, id)).state).toBe('succeeded')
    const { state, counts } = await batch(id)
    expect([state, counts.kept, counts.waiting]).toEqual(['completed', UPDATES_AT_ONCE + 2, 0])
    const log = api.database.read.selectFrom('activity').select('message').where('action', '=', 'safe_updates.ended')
    expect(await log.execute()).toEqual([{ message: 'Sites updated safely: 6. Sites that were not updated: 0' }])
  })

  test('update WordPress of sites whose release is older, with the role for it', async () => {
    const [one, two, three, other] = (await sitesOn(4)) as [number, number, number, number]
    await change(other, { core_version: '6.8' })
    const mate = await api.person('mate@example.com')
    await api.collaborate(mate, other, ['plugin_management_access', 'execute_bulk_operations'])
    await withReleases(api, '6.8.9')
    await change(one, { core_version: '6.8' })
    await change(two, { core_version: '6.8.9' })
    await change(three, { core_version: '6.9' })
    const id = await order([one, two, three], { core: 'latest' })
    const ofMate = await order([other], { core: 'latest' }, mate)
    expect((await batch(id)).core).toBe('latest')
    work()
    const [only] = await running(1)
    expect(JSON.parse(only?.input as string)).toMatchObject({
      plugins: [],
      core: { version: '6.8.9', channel: 'stable' },
    })
    await end(one, 'kept')
    await ended(api.database, id)
    expect(await statesOf(id)).toEqual(['kept', 'skipped', 'skipped'])
    expect((await reasonsOf(id))[2]).toContain('the site runs WordPress 6.9, which is newer than 6.8.9')
    await ended(api.database, ofMate)
    const found = api.database.read.selectFrom('safe_update_batch_sites').select('reason')
    expect(await found.where('site_id', '=', other).executeTakeFirst()).toEqual({
      reason: 'The account that requested it does not have the role update_site_cms_version on the site',
    })
  })

  test('fail if a site was undone, and a retry begins again with that site only', async () => {
    const [one, two] = (await sitesOn(2)) as [number, number]
    const id = await order([one, two])
    work()
    await running(2)
    await end(one, 'kept')
    await end(two, 'undone', 'The update was undone: cart')
    const operation = await ended(api.database, id)
    expect([operation.state, operation.error]).toEqual([
      'failed',
      'Sites that have their earlier versions: shop-2 (The update was undone: cart)',
    ])
    expect([(await batch(id)).state, await statesOf(id)]).toEqual(['failed', ['kept', 'undone']])
    await api.database.transaction((tx) => requeueOperation(tx, id, definitionsByName([updateManySafelyJob])))
    expect((await running(1)).map(({ site_id }) => site_id)).toEqual([two])
    expect([(await batch(id)).state, await statesOf(id)]).toEqual(['in_progress', ['kept', 'in_progress']])
    await end(two, 'kept')
    await until(async () => (await batch(id)).state === 'completed')
    expect(await statesOf(id)).toEqual(['kept', 'kept'])
  })

  test('begin no further update when they are canceled, and let those finish that have begun', async () => {
    const sites = await sitesOn(2, 'same')
    const id = await order(sites)
    work()
    await running(1)
    await api.database.transaction((tx) => requestCancel(tx, id, Date.now()))
    expect((await ended(api.database, id)).state).toBe('canceled')
    expect([(await batch(id)).state, await statesOf(id)]).toEqual(['canceled', ['in_progress', 'canceled']])
    await end(sites[0] as number, 'kept')
    expect(await statesOf(id)).toEqual(['kept', 'canceled'])
  })

  test('begin no update while they are paused', async () => {
    const sites = await sitesOn(2, 'same')
    const id = await order(sites)
    work()
    await running(1)
    await api.database.transaction((tx) => setPaused(tx, id, 1))
    await end(sites[0] as number, 'kept')
    await worker?.stop(100)
    expect(await statesOf(id)).toEqual(['kept', 'waiting'])
    await api.database.transaction((tx) => setPaused(tx, id, null))
    work()
    await running(1)
  })

  test('continue in another process, and follow what has begun', async () => {
    const sites = await sitesOn(2)
    const id = await order(sites)
    work()
    const before = await running(2)
    await worker?.stop(100)
    await end(sites[0] as number, 'kept')
    work()
    await until(async () => (await statesOf(id))[0] === 'kept')
    expect((await open()).map(({ id: each }) => each)).toEqual([before[1]?.id])
    await end(sites[1] as number, 'kept')
    expect((await ended(api.database, id)).state).toBe('succeeded')
  })

  test('skip sites that cannot be updated, and say why', async () => {
    const sites = await sitesOn(6)
    const [gone, off, closed, without, newest, lost] = sites as [number, number, number, number, number, number]
    await change(off, { state: 'disabled' })
    await change(closed, { maintenance: 1 })
    await withPlugins(api, without, 'mail')
    const mate = await api.person('mate@example.com')
    await api.collaborate(mate, lost, ['plugin_management_access', 'execute_bulk_operations'])
    const id = await order([gone, off, closed, without, newest], { plugins: [{ path: 'forms', version: '1.0' }] })
    const ofMate = await order([lost], { plugins }, mate)
    await api.collaborate(mate, lost, [])
    await api.database.transaction((tx) => markDeleted(tx, gone, 1))
    work()
    expect((await ended(api.database, id)).state).toBe('succeeded')
    expect(await statesOf(id)).toEqual(Array(5).fill('skipped'))
    expect(await reasonsOf(id)).toEqual([
      null,
      'The site is disabled',
      'The site is in maintenance mode',
      'The site has none of these plugins and themes',
      'The site has these versions already',
    ])
    expect((await ended(api.database, ofMate)).state).toBe('succeeded')
    const found = api.database.read.selectFrom('safe_update_batch_sites').select(['site_id', 'state', 'reason'])
    expect(await found.where('site_id', 'in', [gone, lost]).orderBy('site_id').execute()).toEqual([
      { site_id: gone, state: 'skipped', reason: 'The site was deleted' },
      {
        ...{ site_id: lost, state: 'skipped' },
        reason: 'The account that requested it no longer has the role plugin_management_access on the site',
      },
    ])
  })

  test('of two at the same time, one updates a site', async () => {
    const sites = await sitesOn(2, 'same')
    const [first, ...later] = [await order(sites), await order(sites), await order(sites)]
    const older = await olderBatches(api.database.read, later[1] as number)
    expect([...older.values()]).toEqual([first, first])
    work()
    await running(1)
    // Its sites have no place now, and need none to be skipped.
    later.push(await order(sites))
    for (const each of later) {
      await until(async () => (await batch(each)).state === 'completed')
      expect(await statesOf(each)).toEqual(['skipped', 'skipped'])
      expect(await reasonsOf(each)).toEqual(Array(2).fill(`Operation ${first} already updates this site safely`))
    }
    expect((await open()).map(({ site_id }) => site_id)).toEqual([sites[0]])
  })

  test('count an update as failed whose operation is gone', async () => {
    const [site] = (await sitesOn(1)) as [number]
    const id = await order([site])
    work()
    const [update] = await running(1)
    await api.database.transaction((tx) =>
      tx
        .updateTable('operations')
        .set({ state: 'failed', finished_at: 1 })
        .where('id', '=', update?.id ?? 0)
        .execute(),
    )
    expect((await ended(api.database, id)).state).toBe('failed')
    expect(await reasonsOf(id)).toEqual(['Its operation has ended without a report'])
  })

  test('need the rights on each site, and record nothing otherwise', async () => {
    const [site] = (await sitesOn(1)) as [number]
    const stranger = await api.person('stranger@example.com')
    const mate = await api.person('mate@example.com')
    await api.collaborate(mate, site, ['execute_bulk_operations'])
    const call = async (by: Person, body: object) => (await by.call('POST', '/v1/safe-updates', body)).status
    expect(await call(stranger, { siteIds: [site], plugins })).toBe(404)
    expect(await call(mate, { siteIds: [site], plugins })).toBe(403)
    expect(await call(owner, { siteIds: [site] })).toBe(400)
    expect(await call(owner, { siteIds: [], plugins })).toBe(400)
    expect(await api.database.read.selectFrom('safe_update_batches').selectAll().execute()).toEqual([])
    const id = await order([-1])
    expect((await stranger.call('GET', `/v1/safe-updates/${id}`)).status).toBe(404)
    expect((await mate.call('GET', `/v1/safe-updates/${id}`)).status).toBe(404)
  })

  test('are limited in number', async () => {
    const [site] = (await sitesOn(1)) as [number]
    for (let n = 0; n < MOST_OPEN; n++) await order([site])
    const { status, body } = await owner.call('POST', '/v1/safe-updates', { siteIds: [site], plugins })
    expect([status, body.errors[0]]).toEqual([409, expect.stringContaining('in progress')])
  })

  test('are listed with those of one site, for those who see the sites', async () => {
    const [one, two] = (await sitesOn(2)) as [number, number]
    const id = await order([one, two])
    work()
    await running(2)
    await end(one, 'kept')
    const list = async (by: Person, query = '') =>
      (await by.call('GET', `/v1/safe-updates${query}`)).body.data.map(({ site_id }: { site_id: number }) => site_id)
    expect(await list(owner)).toEqual([two, one])
    const [{ display_name: name }] = (await owner.call('GET', '/v1/safe-updates?state=kept')).body.data
    expect(name).toBe('shop-1')
    expect(await list(owner, '?state=kept')).toEqual([one])
    expect(await list(owner, `?batch_id=${id}`)).toEqual([two, one])
    expect(await list(owner, `?batch_id=${id + 999}`)).toEqual([])
    const mate = await api.person('mate@example.com')
    expect(await list(mate)).toEqual([])
    await api.collaborate(mate, two, [])
    expect(await list(mate)).toEqual([two])
  })
})

test('the plugin directory is asked once for many sites, and again after a failure and after a while', async () => {
  const asked: string[] = []
  let now = 0
  let fails = true
  const found = { slug: 'forms', version: '2.0', packages: new Map() }
  const find = async (slug: string) => {
    asked.push(slug)
    if (fails) throw new Error('away')
    return found
  }
  const directory = rememberedDirectory({ find, findTheme: async () => undefined }, () => now)
  await expect(directory.find('forms')).rejects.toThrow('away')
  fails = false
  expect(await Promise.all([directory.find('forms'), directory.find('forms')])).toEqual([found, found])
  expect(asked).toHaveLength(2)
  now = 600_000
  await directory.find('forms')
  expect(asked).toHaveLength(3)
})
