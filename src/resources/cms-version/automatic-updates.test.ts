import type { Updateable } from 'kysely'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../test/support/fake-host.ts'
import { holding, whileUnderWay } from '../../../test/support/overlap.ts'
import { PermanentFailure } from '../../platform/operations/definition.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { startWorker, until } from '../../platform/operations/harness.ts'
import type { Worker } from '../../platform/operations/worker/worker.ts'
import { setFacts } from '../account/account.store.ts'
import type { SiteRow } from '../sites/tables.ts'
import { madeOffer, withReleases } from './cms-version.fixture.ts'
import { lastFailureOf } from './failed-update.store.ts'
import { lookForReleasesNightly, lookTwiceADay, planNightlyLook } from './look-for-releases.job.ts'
import { planUpdates } from './plan-updates.job.ts'
import { knownReleases, replaceReleases } from './release.store.ts'
import { securityRelease } from './security-release.ts'
import { updateBySchedule } from './update-by-schedule.job.ts'
import { updateCmsVersionJob } from './update-cms-version.job.ts'

const HOUR_MS = 3_600_000
const TYPE = updateBySchedule.name

test('a security release is the newest of the branch, stable, newer, and offered now', () => {
  const seen = (versions: string[]) => versions.map((version) => ({ ...madeOffer(version), seenAt: 1 }))
  const all = seen(['6.8.3', '6.8.10', '6.8.9', '6.9', '6.9.1', '6.7.4', '6.8.11-RC1', '6.80.1'])
  expect(securityRelease(all, '6.8')?.version).toBe('6.8.10')
  expect(securityRelease(all, '6.9')?.version).toBe('6.9.1')
  for (const installed of ['6.8.10', '6.8.12', '6.6', '7.0', '6.9.1'])
    expect(securityRelease(all, installed)).toBeUndefined()
  const withdrawn = all.map((release) => ({ ...release, isOffered: release.version !== '6.8.10' }))
  expect(securityRelease(withdrawn, '6.8')?.version).toBe('6.8.9')
})

describe.each(dialects)('automatic security releases on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let host: FakeHost
  let now: number
  const workers: Worker[] = []
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = Date.now()
    api = await testApi(dialect)
    host = await fakeHost(api)
    owner = await api.person('owner@example.com')
    await withReleases(api, '6.8.1', '6.9')
  })
  afterEach(async () => {
    for (const worker of workers.splice(0)) await worker.stop(5000)
    await host?.close()
    await api?.close()
  })

  const set = (site: number, values: Updateable<SiteRow>) =>
    api.database.transaction((tx) => tx.updateTable('sites').set(values).where('id', '=', site).execute())
  const withCore = async (name: string, values: Updateable<SiteRow> = {}) => {
    const site = await api.site(owner, name)
    await set(site, { host_id: host.hostId, core_version: '6.8', ...values })
    return site
  }
  const plan = async () => {
    const { database } = api
    const context = { services: { database }, signal: new AbortController().signal, now: () => now }
    const run = planUpdates.steps.order?.run as (context: object) => Promise<void>
    await run({ ...context, transaction: database.transaction.bind(database) })
  }
  const ordered = async () => {
    const rows = api.database.read.selectFrom('operations').select(['site_id as siteId', 'input', 'source', 'state'])
    return (await rows.where('type', '=', TYPE).orderBy('id').execute()).map(({ siteId }) => siteId)
  }
  const enqueueFor = (site: number, definition: typeof updateBySchedule, options: object = {}) =>
    api.database.transaction((tx) =>
      enqueue(
        tx,
        definition,
        { siteId: site, version: '6.8.1', channel: 'stable' },
        {
          ...{ siteId: site, accountId: owner.accountId, hostId: host.hostId, source: 'schedule' },
          ...options,
        },
      ),
    )
  /** Runs requested updates, and returns when none is open. */
  const work = async (definition: typeof updateBySchedule = updateBySchedule, more: object = {}) => {
    const services = { ...host.services, ...more } as never
    const on = { runner: 'host', hostId: host.hostId, services } as const
    // A long lease, so that a machine that is busy with other tests does not look like a dead worker.
    const worker = startWorker(api.database, [definition as never], { ...on, leaseMs: 60_000, lookEveryMs: 40 })
    workers.push(worker)
    await until(async () => {
      const open = api.database.read.selectFrom('operations').select('id').where('type', '=', definition.name)
      return (await open.where('finished_at', 'is', null).execute()).length === 0
    })
    await worker.stop(5000)
  }
  const failing = (step: string, error: Error, definition = updateBySchedule): typeof updateBySchedule => {
    const run = () => {
      throw error
    }
    const faulty = { ...definition.steps[step], run } as (typeof definition.steps)[string]
    return { ...definition, steps: { ...definition.steps, [step]: faulty } }
  }
  const alerts = async () => {
    const rows = await api.database.read.selectFrom('alerts').selectAll().orderBy('id').execute()
    return rows.map(({ kind, subject, detail, ended_at: ended }) => [kind, subject, detail, ended === null])
  }
  const entries = async (action: string) => {
    const rows = api.database.read.selectFrom('activity').select(['message', 'source']).where('action', '=', action)
    return rows.orderBy('id').execute()
  }
  const makeReal = async (name: string) => {
    const site = await withCore(name, { written_address: 'old.example.com' })
    await host.giveDirectory(site)
    return site
  }

  test('requests them for sites of the branch without other operations, including idle and disabled ones', async () => {
    const live = await withCore('one')
    const disabled = await withCore('two', { state: 'disabled' })
    await plan()
    expect(await ordered()).toEqual([live, disabled])
    const [first] = await api.database.read.selectFrom('operations').selectAll().where('type', '=', TYPE).execute()
    expect(first).toMatchObject({ account_id: owner.accountId, host_id: host.hostId, source: '"schedule"' })
    expect(JSON.parse(first?.input as string)).toEqual({ siteId: live, version: '6.8.1', channel: 'stable' })
  })

  test('yield to what a person starts until they close the site, and are planned again', async () => {
    const site = await withCore('one')
    await plan()
    const open = async () => {
      const rows = api.database.read
        .selectFrom('operations')
        .select(['id', 'state', 'cancel_requested'])
        .where('type', '=', TYPE)
      return rows.orderBy('id').execute()
    }
    const startAnother = async () => {
      const answer = await owner.call('POST', `/v1/sites/${site}/ondemand-backups`, { backup_type: 'db' })
      expect(answer.status).toBe(200)
    }
    await startAnother()
    expect(await open()).toMatchObject([{ state: 'canceled' }])
    expect(await lastFailureOf(api.database.read, site)).toBeUndefined()
    await api.database.transaction((tx) =>
      tx
        .updateTable('operations')
        .set({ state: 'succeeded', finished_at: now })
        .where('state', '=', 'queued')
        .execute(),
    )
    await plan()
    const [, again] = await open()
    expect(again).toMatchObject({ state: 'queued' })
    await api.database.transaction((tx) =>
      tx
        .updateTable('operation_steps')
        .set({ started_at: now })
        .where('operation_id', '=', again?.id as number)
        .where('name', '=', 'close')
        .execute(),
    )
    await startAnother()
    expect(await open()).toMatchObject([{ state: 'canceled' }, { state: 'queued', cancel_requested: 0 }])
  })

  const leftAlone: [string, (site: number) => Promise<unknown>][] = [
    ['has it already', (site) => set(site, { core_version: '6.8.1' })],
    ['is of a branch without one', (site) => set(site, { core_version: '6.7.2' })],
    ['follows betas', (site) => set(site, { core_channel: 'beta' })],
    ['is being made', (site) => set(site, { state: 'deploying' })],
    ['is being cloned', (site) => set(site, { state: 'cloning' })],
    ['is in the trash', (site) => set(site, { deleted_at: 1 })],
    ['was found missing', (site) => set(site, { lost_at: now - HOUR_MS })],
    [
      'has too old a PHP',
      () => api.database.transaction((tx) => replaceReleases(tx, [madeOffer('6.8.1', '8.9')], now)),
    ],
    [
      'is offered what was withdrawn',
      () => api.database.transaction((tx) => replaceReleases(tx, [{ ...madeOffer('6.8.1'), isOffered: false }], now)),
    ],
    [
      'is of an account that says no',
      () => api.database.transaction((tx) => setFacts(tx, owner.accountId, { hasAutomaticUpdates: false })),
    ],
    [
      'is being worked on',
      async (site) => {
        // An operation of another site's queue may have closed it.
        const id = await enqueueFor(await api.site(owner, 'another'), { ...updateBySchedule, name: 'test.other' })
        await set(site, { closed_by: id })
      },
    ],
    ['has something ordered', (site) => enqueueFor(site, { ...updateBySchedule, name: 'test.other' })],
  ]
  test.each(leftAlone)('skips one that %s', async (_what, change) => {
    const site = await withCore('one')
    await change(site)
    await plan()
    expect(await ordered()).toEqual([])
  })

  test('skipped sites take no place of others', async () => {
    const stranger = await api.person('no@example.com')
    await api.database.transaction((tx) => setFacts(tx, stranger.accountId, { hasAutomaticUpdates: false }))
    for (let index = 0; index < 4; index++) {
      await withCore(`beta-${index}`, { core_channel: 'beta' })
      await withCore(`gone-${index}`, { deleted_at: 1 })
      await set(await api.site(stranger, `not-${index}`), { host_id: host.hostId, core_version: '6.8' })
    }
    const site = await withCore('one')
    await plan()
    expect(await ordered()).toEqual([site])
  })

  test('an update that waits for another day does not delay others', async () => {
    const site = await withCore('one')
    await enqueueFor(site, { ...updateBySchedule, name: 'test.other' }, { runAt: now + 24 * HOUR_MS })
    await plan()
    expect(await ordered()).toEqual([site])
  })

  test('lets only a few of a thousand wait at a time, however many processes plan, and however often', async () => {
    for (let index = 0; index < 7; index++) await withCore(`site-${index}`)
    await Promise.all([plan(), plan()])
    await plan()
    const first = await ordered()
    expect(first).toHaveLength(4)
    expect(new Set(first).size).toBe(4)
    await api.database.transaction((tx) =>
      tx
        .updateTable('operations')
        .set({ state: 'succeeded', finished_at: now })
        .where('type', '=', TYPE)
        .where('site_id', 'in', first.slice(0, 3))
        .execute(),
    )
    for (const site of first.slice(0, 3)) await set(site as number, { core_version: '6.8.1' })
    await plan()
    expect(await ordered()).toHaveLength(7)
    expect(updateBySchedule.atOnce).toBe(2)
  })

  test('two processes that plan at the same moment share the limit of a host', async () => {
    await withReleases(api, '6.8.2')
    const sites: number[] = []
    for (const [index, version] of ['6.8', '6.8', '6.8', '6.8', '6.8.1', '6.8.1'].entries())
      sites.push(await withCore(`site-${index}`, { core_version: version }))
    await whileUnderWay(api.database, holding(sites[0] as number), [plan, plan])
    expect(await ordered()).toEqual(sites.slice(0, 4))
  })

  test('runs like a requested update, logs no person, and clears earlier failures', async () => {
    const site = await makeReal('one')
    await plan()
    await work()
    expect((await owner.call('GET', `/v1/sites/${site}`)).body.data.cmsVersion).toBe('Current Stable Release (6.8.1)')
    expect(await entries('wordpress.version_updated')).toEqual([
      {
        message: 'Updated WordPress from 6.8 to 6.8.1 automatically, because it is a security release',
        source: 'systems',
      },
    ])
    expect(await lastFailureOf(api.database.read, site)).toBeUndefined()
    await plan()
    expect(await ordered()).toEqual([site])
  })

  test('names the statements that the database refuses since the update, but not earlier or passing ones', async () => {
    const site = await makeReal('one')
    const { pool } = host.services
    const runTask = pool.runTask.bind(pool)
    const refusals = [['earlier'], ['earlier', 'passing', 'new'], ['earlier', 'new']]
    vi.spyOn(pool, 'runTask').mockImplementation(async (on, name, ...rest) => {
      const result = await runTask(on, name, ...rest)
      return name === 'front-page' ? { ...result, databaseErrors: refusals.shift() } : result
    })
    const id = await enqueueFor(site, updateCmsVersionJob)
    await work(updateCmsVersionJob)
    const warning = "The site's database refuses statements since then: new. See the PHP log of the site"
    const { steps } = (await owner.call('GET', `/v1/operations/${id}`)).body.data
    const warnings = steps.flatMap((step: { warning: string | null }) => step.warning ?? [])
    expect([warnings, refusals]).toEqual([[warning], []])
    const [entry] = await entries('wordpress.version_updated')
    expect(entry?.message).toContain(`. ${warning}`)
  })

  test('tries one that breaks the site once, reports it once in PHP’s words, and repeats it only on request', async () => {
    const site = await makeReal('one')
    const broken = failing('answer', new PermanentFailure('Call to undefined function nothing()'))
    await plan()
    await work(broken)
    const detail = expect.stringContaining('6.8.1 is a security release, and could not be installed: Call to undefined')
    expect(await alerts()).toEqual([['update_undone', 'WordPress', detail, true]])
    expect(await entries('wordpress.version_failed')).toMatchObject([
      {
        message: expect.stringContaining(
          'The automatic update to the WordPress security release 6.8.1 failed: Call to undefined',
        ),
      },
    ])
    for (const hours of [1, 13, 24 * 30]) {
      now = Date.now() + hours * HOUR_MS
      await plan()
    }
    expect(await ordered()).toEqual([site])
    // A failed retry opens no other alert.
    const { id } = await api.database.read
      .selectFrom('operations')
      .select('id')
      .where('type', '=', TYPE)
      .executeTakeFirstOrThrow()
    expect((await owner.call('POST', `/v1/operations/${id}/retry`)).status).toBe(200)
    await work(broken)
    expect(await alerts()).toHaveLength(1)
    // The next release is tried again.
    await withReleases(api, '6.8.2')
    await plan()
    expect(await ordered()).toEqual([site, site])
  })

  test('also skips a release that a user could not install', async () => {
    const site = await makeReal('one')
    await enqueueFor(site, updateCmsVersionJob)
    await work(failing('answer', new PermanentFailure('no'), updateCmsVersionJob))
    now = Date.now() + HOUR_MS
    await plan()
    const detail = 'WordPress was not updated to 6.8.1: no'
    expect([await ordered(), await alerts()]).toEqual([[], [['update_undone', 'WordPress', detail, true]]])
  })

  test('retries a release that cannot be fetched after half a day, without an alert', async () => {
    const site = await makeReal('one')
    await plan()
    await work(failing('core', new PermanentFailure('no network')))
    expect([await alerts(), (await entries('wordpress.version_failed')).length]).toEqual([[], 1])
    now = Date.now() + 11 * HOUR_MS
    await plan()
    expect(await ordered()).toEqual([site])
    now = Date.now() + 13 * HOUR_MS
    await plan()
    expect(await ordered()).toEqual([site, site])
  })

  test('a retry time from a wrong clock does not stop updates', async () => {
    const site = await makeReal('one')
    await plan()
    await work(failing('core', new PermanentFailure('no network')))
    now -= 365 * 24 * HOUR_MS
    await plan()
    expect(await ordered()).toEqual([site, site])
  })

  test('a failure pauses the other updates of the host for ten minutes', async () => {
    await makeReal('one')
    await plan()
    await work(failing('answer', new PermanentFailure('no')))
    const other = await withCore('two')
    now = Date.now() + 1000
    await plan()
    expect(await ordered()).toHaveLength(1)
    now += 600_000
    await plan()
    expect((await ordered())[1]).toBe(other)
  })

  test.each([
    ['was withdrawn', () => withReleases(api, '6.9')],
    [
      'is not wanted any more',
      () => api.database.transaction((tx) => setFacts(tx, owner.accountId, { hasAutomaticUpdates: false })),
    ],
    ['is older than what the site has by now', (site: number) => set(site, { core_version: '6.9' })],
  ])('skips a waiting one that %s, without a report', async (_what, change) => {
    const site = await makeReal('one')
    await plan()
    await change(site)
    await work()
    const { state } = await api.database.read
      .selectFrom('operations')
      .select('state')
      .where('type', '=', TYPE)
      .executeTakeFirstOrThrow()
    expect([state, await alerts(), await entries('wordpress.version_failed')]).toEqual(['failed', [], []])
    expect(await entries('wordpress.version_updated')).toEqual([])
    expect(await lastFailureOf(api.database.read, site)).toBeUndefined()
  })

  test('does not request one again that was canceled', async () => {
    const site = await makeReal('one')
    await plan()
    const { id } = await api.database.read
      .selectFrom('operations')
      .select('id')
      .where('type', '=', TYPE)
      .executeTakeFirstOrThrow()
    expect((await owner.call('POST', `/v1/operations/${id}/cancel`)).status).toBe(200)
    await work()
    now = Date.now() + HOUR_MS
    await plan()
    expect([await ordered(), await alerts()]).toEqual([[site], []])
  })

  describe('the check for releases', () => {
    const looks = async () =>
      api.database.read
        .selectFrom('operations')
        .select(['run_at', 'host_id'])
        .where('type', '=', lookForReleasesNightly.name)
        .execute()
    const ask = () =>
      api.database.transaction((tx) => {
        const commit = planNightlyLook.steps.ask?.commit as (tx: unknown, context: object) => Promise<void>
        return commit(tx, { now: () => now })
      })
    const look = (offers: object[]) => {
      const { database } = api
      const run = lookForReleasesNightly.steps.look?.run as (context: object) => Promise<void>
      const services = { cores: { offers: async () => offers } }
      const said: unknown[] = []
      const log = { info: (facts: object) => said.push(facts) }
      const transaction = database.transaction.bind(database)
      return run({ services, transaction, log, now: () => now, signal: new AbortController().signal }).then(() => said)
    }

    test('runs twice a day, at some time within four hours, on the host that reported last, and never twice at once', async () => {
      expect(lookTwiceADay.everyMs).toBe(12 * HOUR_MS)
      const before = Date.now()
      await ask()
      await ask()
      const [only, ...others] = await looks()
      expect([only?.host_id, others]).toEqual([host.hostId, []])
      expect(Number(only?.run_at) - before).toBeGreaterThanOrEqual(-HOUR_MS)
      expect(Number(only?.run_at) - Date.now()).toBeLessThanOrEqual(4 * HOUR_MS)
      const done = { state: 'succeeded', finished_at: now } as const
      await api.database.transaction((tx) => tx.updateTable('operations').set(done).execute())
      await ask()
      expect(await looks()).toHaveLength(2)
    })

    test('is stored and logged', async () => {
      expect(await look([madeOffer('6.8.2', '7.2.24'), madeOffer('6.9-beta1')])).toEqual([
        { stable: '6.8.2', beta: '6.9-beta1' },
      ])
      const known = await knownReleases(api.database.read)
      expect(known.find(({ version }) => version === '6.8.2')).toEqual({ ...madeOffer('6.8.2', '7.2.24'), seenAt: now })
      expect(known).toHaveLength(2)
    })

    test('is retried without an answer, and keeps what was known', async () => {
      await expect(look([{ ...madeOffer('6.8'), isOffered: false }])).rejects.toThrow('No source lists')
      expect((await knownReleases(api.database.read)).map(({ version }) => version).sort()).toEqual(['6.8.1', '6.9'])
    })
  })
})
