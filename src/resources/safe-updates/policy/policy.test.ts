import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { everyPlugin, type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { holding, whileUnderWay } from '../../../../test/support/overlap.ts'
import type { PluginDirectory } from '../../../hosting/plugin-directory/plugin-directory.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { setSuspended } from '../../account/account.store.ts'
import { storePlugins } from '../../plugins/plugin.store.ts'
import { markDeleted } from '../../sites/site.store.ts'
import { withVulnerabilities } from '../../vulnerabilities/vulnerabilities.fixture.ts'
import { holdPlaces } from '../batch/batch.store.ts'
import { UPDATES_AT_ONCE } from '../batch/batch.ts'
import { beginReport, endReport, storeFindings } from '../safe-update.store.ts'
import { updateSafelyJob } from '../update-safely.job.ts'
import { planSafeUpdates } from './plan-safe-updates.job.ts'
import { MOST_EXCLUDED } from './policy.ts'
import { noteKeptUpdate, noteUndoneByPerson, noteUndoneUpdate, undoneVersions } from './undone.store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const orderOf = (siteId: number) => ({ siteId, plugins: [], themes: [], skipped: [], paths: [] })
/** A Sunday. */
const START = Date.parse('2026-02-01T00:30:00Z')
const TYPE = updateSafelyJob.name

describe.each(dialects)('update policies on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let now: number
  let directory: PluginDirectory
  let asked: string[]
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = START
    asked = []
    api = await testApi(dialect, { now: () => now })
    directory = {
      find(slug, signal) {
        asked.push(slug)
        return everyPlugin.find(slug, signal)
      },
      findTheme: everyPlugin.findTheme,
    }
    owner = await api.person('owner@example.com')
    // The tests take days.
    await api.database.transaction((tx) =>
      tx
        .updateTable('tokens')
        .set({ expires_at: START + 9e11 })
        .execute(),
    )
  })
  afterEach(() => api?.close())

  const set = (siteId: number, values: object) =>
    api.database.transaction((tx) => tx.updateTable('sites').set(values).where('id', '=', siteId).execute())
  /** Gives a site plugins and themes. Those with `offered` have an update. The directory has 5.3 of each. */
  const install = (
    siteId: number,
    plugins: readonly { readonly name: string; readonly version?: string; readonly offered?: string | null }[],
    themes: readonly string[] = [],
  ) =>
    api.database.transaction((tx) =>
      storePlugins(
        tx,
        siteId,
        {
          plugins: plugins.map(({ name, version = '1.0', offered = '5.3' }) => ({
            ...{ name, file: `${name}/${name}.php`, title: name, description: '', status: 'active', version },
            ...{ update: offered === null ? 'none' : 'available', updateVersion: offered },
          })),
          themes: themes.map((name) => ({
            ...{ name, title: name, version: '1.0', isActive: false, updateVersion: '5.3', isAutomatic: false },
          })),
        },
        now,
      ),
    )
  const hostNamed = (name: string) =>
    api.database.transaction(async (tx) => {
      const known = await tx.selectFrom('hosts').select('id').where('name', '=', name).executeTakeFirst()
      if (known) return known.id
      const values = { name, address: '', datacenters: '', max_sites: 99, facts: '{}', seen_at: 0 }
      return (await tx.insertInto('hosts').values(values).returning('id').executeTakeFirstOrThrow()).id
    })
  /** A site with an update of the plugin `forms`, on a host of its own. */
  async function siteNamed(name: string, host = name, by = owner): Promise<number> {
    const id = await api.site(by, name)
    await set(id, { host_id: await hostNamed(host), state: 'live' })
    await install(id, [{ name: 'forms' }])
    return id
  }
  const put = async (path: string, body: object, by = owner) => {
    const answer = await by.call('PUT', path, body)
    expect([answer.status, answer.body.errors]).toEqual([200, null])
  }
  const setPolicy = (siteId: number, body: object, by = owner) => put(`/v1/sites/${siteId}/update-policy`, body, by)
  const setDefault = (body: object) => put('/v1/account/update-policy', body)
  const policyOf = async (siteId: number) => (await owner.call('GET', `/v1/sites/${siteId}/update-policy`)).body.data
  const plan = async () => {
    const { database, config } = api
    const services = { database, config, pluginDirectory: directory }
    const transaction = database.transaction.bind(database)
    const context = { services, signal: new AbortController().signal, now: () => now, transaction }
    for (const step of Object.values(planSafeUpdates.steps))
      await (step as unknown as { run(given: object): Promise<void> }).run(context)
  }
  const started = () =>
    api.database.read.selectFrom('operations').selectAll().where('type', '=', TYPE).orderBy('id').execute()
  const sitesStarted = async () => (await started()).map(({ site_id: siteId }) => siteId)
  /** What the last update of a site changes. */
  const lastOrder = async (): Promise<string[]> => {
    const { plugins, themes } = JSON.parse((await started()).at(-1)?.input ?? '{"plugins":[],"themes":[]}')
    return [...plugins, ...themes].map(({ path, version }) => `${path} ${version}`)
  }
  const finish = async (state: 'kept' | 'undone' = 'kept') => {
    for (const { id, site_id: siteId, input, finished_at: end } of await started()) {
      if (end !== null) continue
      await api.database.transaction(async (tx) => {
        const ending = { state: state === 'kept' ? 'succeeded' : 'failed', finished_at: now } as const
        await tx.updateTable('operations').set(ending).where('id', '=', id).execute()
        await endReport(tx, id, { state, reason: null, now })
        const ended = { input: JSON.parse(input), operationId: id, now: () => now }
        if (state === 'undone') await noteUndoneUpdate(tx, { ...ended, canceled: false }, [])
        else await noteKeptUpdate(tx, ended, [])
      })
      if (state === 'kept') await install(siteId as number, [{ name: 'forms', version: '5.3', offered: null }])
    }
  }
  const entries = async () => {
    const rows = api.database.read.selectFrom('activity').select(['action', 'message', 'source', 'site_id'])
    return (await rows.orderBy('id').execute()).filter(({ action }) => /^safe_update/.test(action))
  }
  const daily = { mode: 'daily', hour: 3 }

  test('start nothing unless someone chooses one', async () => {
    await siteNamed('one')
    for (let day = 0; day < 8; day++) {
      now = START + day * DAY_MS + 12 * HOUR_MS
      await plan()
    }
    expect([await started(), asked]).toEqual([[], []])
  })

  test('start an update at their hour as the owner, and say so', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    expect((await policyOf(site)).next_at).toBe('2026-02-01T03:00:00.000Z')
    await plan()
    now = Date.parse('2026-02-01T02:59:59Z')
    await plan()
    expect(await started()).toEqual([])
    now = Date.parse('2026-02-01T03:00:30Z')
    await plan()
    const [operation] = await started()
    expect(operation).toMatchObject({ site_id: site, account_id: owner.accountId, asked_by_id: owner.accountId })
    expect(await lastOrder()).toEqual(['forms 5.3'])
    expect(await entries()).toEqual([
      {
        ...{ action: 'safe_update.by_policy', source: 'systems', site_id: site },
        message: 'The update policy (daily, at 03:00 (UTC)) started the safe update of forms',
      },
    ])
    const { data } = (await owner.call('GET', `/v1/sites/${site}/safe-updates`)).body
    expect(data).toMatchObject([{ id: operation?.id, by_policy: true, batch_id: null, state: 'in_progress' }])
    expect((await policyOf(site)).next_at).toBe('2026-02-02T03:00:00.000Z')
    await finish()
    now += HOUR_MS
    await plan()
    expect(await sitesStarted()).toEqual([site])
  })

  test('yield to what a person starts before they change the site, and are repeated', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    await plan()
    now = Date.parse('2026-02-01T03:00:30Z')
    await plan()
    const startSomething = async () => {
      const { status } = await owner.call('POST', `/v1/sites/${site}/ondemand-backups`, { backup_type: 'db' })
      expect(status).toBe(200)
      await api.database.transaction((tx) =>
        tx
          .updateTable('operations')
          .set({ state: 'succeeded', finished_at: now })
          .where('type', '=', 'backup.take')
          .execute(),
      )
    }
    await startSomething()
    expect(await started()).toMatchObject([{ state: 'canceled' }])
    const reason = 'It yielded to another operation of the site, and is repeated later'
    const { data } = (await owner.call('GET', `/v1/sites/${site}/safe-updates`)).body
    expect(data).toMatchObject([{ state: 'canceled', reason }])
    expect(await undoneVersions(api.database.read, site)).toEqual([])
    now += 9 * 60_000
    await plan()
    expect(await sitesStarted()).toEqual([site])
    now += 60_000
    await plan()
    expect(await started()).toMatchObject([{ state: 'canceled' }, { state: 'queued' }])
    const again = (await started())[1]?.id as number
    await api.database.transaction((tx) =>
      tx
        .updateTable('operation_steps')
        .set({ started_at: now })
        .where('operation_id', '=', again)
        .where('name', '=', 'update')
        .execute(),
    )
    await startSomething()
    expect((await started())[1]).toMatchObject({ cancel_requested: 0 })
  })

  test('update themes, too, and weekly ones only on their day', async () => {
    const site = await siteNamed('one')
    await install(site, [{ name: 'forms' }], ['paper'])
    await setPolicy(site, { mode: 'weekly', weekday: 'tuesday', hour: 22, time_zone: 'america/new_york' })
    expect((await policyOf(site)).next_at).toBe('2026-02-04T03:00:00.000Z')
    now = Date.parse('2026-02-04T02:59:00Z')
    await plan()
    expect(await started()).toEqual([])
    now = Date.parse('2026-02-04T03:00:00Z')
    await plan()
    expect(await lastOrder()).toEqual(['forms 5.3', 'paper 5.3'])
    expect((await policyOf(site)).next_at).toBe('2026-02-11T03:00:00.000Z')
  })

  test('run a missed turn once when they are back', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    now = Date.parse('2026-02-05T14:00:00Z')
    await plan()
    expect(await sitesStarted()).toEqual([site])
    await finish()
    await install(site, [{ name: 'mail' }])
    now += HOUR_MS
    await plan()
    expect(await sitesStarted()).toEqual([site])
    expect((await policyOf(site)).next_at).toBe('2026-02-06T03:00:00.000Z')
  })

  test('begin a few at a time and one on each host, after an outage, too', async () => {
    await setDefault(daily)
    const sites: number[] = []
    for (let n = 0; n <= UPDATES_AT_ONCE; n++) sites.push(await siteNamed(`shop-${n}`))
    const twin = await siteNamed('twin', 'shop-0')
    await plan()
    now += 5 * DAY_MS
    await plan()
    await plan()
    expect(await sitesStarted()).toEqual(sites.slice(0, UPDATES_AT_ONCE))
    await finish()
    await plan()
    expect((await sitesStarted()).slice(UPDATES_AT_ONCE)).toEqual([sites.at(-1), twin])
    await finish()
    await plan()
    expect(await sitesStarted()).toHaveLength(sites.length + 1)
  })

  test('share their places with safe updates of many sites', async () => {
    const [site, taken] = [await siteNamed('one'), await siteNamed('two')]
    await setPolicy(site, daily)
    const hostId = await hostNamed('two')
    await api.database.transaction(async (tx) => {
      for (let n = 0; n < UPDATES_AT_ONCE; n++) {
        const id = await enqueue(tx, updateSafelyJob, orderOf(taken), { siteId: taken, hostId })
        await beginReport(tx, id, taken, now, { batchId: 77 })
      }
    })
    now += 3 * HOUR_MS
    await plan()
    expect(await sitesStarted()).not.toContain(site)
    await finish()
    await plan()
    expect((await sitesStarted()).at(-1)).toBe(site)
  })

  test('start each site once, although two processes plan at the same time', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    now += 3 * HOUR_MS
    await whileUnderWay(api.database, holding(site), [plan, plan])
    expect(await sitesStarted()).toEqual([site])
    await Promise.all([plan(), plan()])
    expect(await sitesStarted()).toEqual([site])
  })

  test('leave the last place to a batch that takes it at the same time', async () => {
    const [site, other] = [await siteNamed('one'), await siteNamed('two')]
    await setPolicy(site, daily)
    const hostId = await hostNamed('two')
    const takePlace = async (tx: Tx) => {
      await holdPlaces(tx)
      const id = await enqueue(tx, updateSafelyJob, orderOf(other), { siteId: other, hostId })
      await beginReport(tx, id, other, now, { batchId: 77 })
    }
    for (let n = 1; n < UPDATES_AT_ONCE; n++) await api.database.transaction(takePlace)
    now += 3 * HOUR_MS
    await whileUnderWay(api.database, takePlace, [plan])
    expect(await sitesStarted()).toEqual(Array(UPDATES_AT_ONCE).fill(other))
  })

  const leftAlone: [string, (site: number) => Promise<unknown>][] = [
    ['is disabled', (site) => set(site, { state: 'disabled' })],
    ['is being made', (site) => set(site, { state: 'deploying' })],
    ['is in maintenance', (site) => set(site, { maintenance: 1 })],
    ['is in the trash', (site) => api.database.transaction((tx) => markDeleted(tx, site, now))],
    ['was found missing', (site) => set(site, { lost_at: now })],
    ['has no host', (site) => set(site, { host_id: null })],
    ['has nothing to update', (site) => install(site, [{ name: 'forms', offered: null }])],
    ['has the newest version', (site) => install(site, [{ name: 'forms', version: '5.3', offered: '5.4' }])],
    ['has an update that the directory does not list', (site) => install(site, [{ name: 'no-such' }])],
    ['is of a suspended account', () => api.database.transaction((tx) => setSuspended(tx, owner.accountId, now))],
    [
      'is updated already',
      (site) =>
        api.database.transaction(async (tx) => {
          const { host_id: hostId } = await tx
            .selectFrom('sites')
            .select('host_id')
            .where('id', '=', site)
            .executeTakeFirstOrThrow()
          await enqueue(tx, updateSafelyJob, orderOf(site), { siteId: site, hostId })
        }),
    ],
  ]
  test.each(leftAlone)('skip a site that %s, without a trace', async (what, alter) => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    now += 3 * HOUR_MS
    await alter(site)
    const before = (await started()).length
    await plan()
    expect([(await started()).length, await entries()]).toEqual([before, []])
    if (what === 'is updated already') return
    // Its turn is over: it does not begin in the middle of the day.
    const turns = await api.database.read.selectFrom('update_turns').select('due_at').execute()
    expect(turns.filter(({ due_at: at }) => Number(at) <= now)).toEqual([])
  })

  test('ask the directory only about sites that can be updated', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    await set(site, { maintenance: 1 })
    now += 3 * HOUR_MS
    await plan()
    expect(asked).toEqual([])
  })

  test('wait for other operations of the site, and for the directory', async () => {
    const [busy, away] = [await siteNamed('busy'), await siteNamed('away')]
    await setDefault(daily)
    await install(away, [{ name: 'unreachable' }])
    now += 3 * HOUR_MS
    const other = { ...updateSafelyJob, name: 'test.other', on: 'control' } as const
    const id = await api.database.transaction((tx) => enqueue(tx, other, orderOf(busy), { siteId: busy }))
    await plan()
    expect(await started()).toEqual([])
    await api.database.transaction((tx) =>
      tx.updateTable('operations').set({ finished_at: now }).where('id', '=', id).execute(),
    )
    await install(away, [{ name: 'forms' }])
    await plan()
    expect(await started()).toEqual([])
    now += 11 * 60_000
    await plan()
    expect(await sitesStarted()).toEqual([busy, away])
    expect((await policyOf(busy)).next_at).toBe('2026-02-02T03:00:00.000Z')
  })

  test('do not try versions again whose update was undone, until there is a newer one', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    now += 3 * HOUR_MS
    await plan()
    await finish('undone')
    expect((await policyOf(site)).undone).toMatchObject([{ kind: 'plugin', name: 'forms', version: '5.3' }])
    for (let night = 0; night < 3; night++) {
      now += DAY_MS
      await plan()
    }
    expect(await sitesStarted()).toEqual([site])
    const packages = new Map([['5.4', 'https://example.com/forms.5.4.zip']])
    directory = { ...directory, find: async (slug) => ({ slug, version: '5.4', packages }) }
    now += DAY_MS
    await plan()
    expect(await lastOrder()).toEqual(['forms 5.4'])
  })

  describe('after several were undone together', () => {
    let site: number
    let installed: { name: string; version?: string; offered?: string | null }[]
    beforeEach(async () => {
      site = await siteNamed('one')
      installed = ['forms', 'mail', 'shop'].map((name) => ({ name }))
      await install(site, installed)
      await setPolicy(site, daily)
      now += 3 * HOUR_MS
      await plan()
      await finish('undone')
    })
    const nextTurn = async () => {
      now += DAY_MS
      await plan()
      return lastOrder()
    }
    /** Ends the update of the last turn. A kept update is installed. */
    const end = async (state: 'kept' | 'undone') => {
      const updated = (await lastOrder()).map((each) => each.split(' ')[0])
      await finish(state)
      if (state === 'kept')
        installed = installed.map((each) =>
          updated.includes(each.name) ? { ...each, version: '5.3', offered: null } : each,
        )
      await install(site, installed)
    }
    const undone = async () =>
      (await policyOf(site)).undone.map((each: Record<string, unknown>) => [each.name, each.is_retried])

    test('try each again alone, one a turn, and only the culprit is left out', async () => {
      expect(await undone()).toEqual([
        ['forms', true],
        ['mail', true],
        ['shop', true],
      ])
      expect(await nextTurn()).toEqual(['forms 5.3'])
      await plan()
      expect(await sitesStarted()).toHaveLength(2)
      expect((await entries()).at(-1)?.message).toContain('of forms alone, because it was undone together with others')
      await end('kept')
      expect(await undone()).toEqual([
        ['mail', true],
        ['shop', true],
      ])
      expect(await nextTurn()).toEqual(['mail 5.3'])
      await end('undone')
      expect(await nextTurn()).toEqual(['shop 5.3'])
      await end('kept')
      expect(await undone()).toEqual([['mail', false]])
      const before = (await started()).length
      await nextTurn()
      expect(await started()).toHaveLength(before)
    })

    test('take turns with other updates', async () => {
      installed.push({ name: 'news' }, { name: 'maps' })
      await install(site, installed)
      expect(await nextTurn()).toEqual(['forms 5.3'])
      await end('kept')
      expect(await nextTurn()).toEqual(['news 5.3', 'maps 5.3'])
      await end('kept')
      expect(await nextTurn()).toEqual(['mail 5.3'])
    })

    test('begin with what fixes a vulnerability', async () => {
      await api.database.transaction((tx) => withVulnerabilities(tx, [{ slug: 'shop' }, { slug: 'mail' }]))
      installed.push({ name: 'news' })
      await install(site, installed)
      expect(await nextTurn()).toEqual(['mail 5.3'])
      await end('kept')
      expect(await nextTurn()).toEqual(['shop 5.3'])
      await end('undone')
      expect(await nextTurn()).toEqual(['news 5.3'])
      await end('kept')
      expect(await nextTurn()).toEqual(['forms 5.3'])
    })

    test('for security try again only what fixes a vulnerability', async () => {
      await api.database.transaction((tx) => withVulnerabilities(tx, [{ slug: 'shop' }]))
      await api.database.transaction((tx) =>
        tx.updateTable('site_update_policies').set({ mode: 'security' }).where('site_id', '=', site).execute(),
      )
      expect(await nextTurn()).toEqual(['shop 5.3'])
      await end('kept')
      const before = (await started()).length
      await nextTurn()
      expect(await started()).toHaveLength(before)
    })

    test('update a newer version together with others', async () => {
      const packages = new Map([['5.4', 'https://example.com/forms.5.4.zip']])
      directory = {
        ...directory,
        find: async (slug, signal) =>
          slug === 'forms' ? { slug, version: '5.4', packages } : everyPlugin.find(slug, signal),
      }
      expect(await nextTurn()).toEqual(['mail 5.3'])
      await end('kept')
      expect(await nextTurn()).toEqual(['forms 5.4'])
    })

    test('leave out what a person canceled, what WordPress refused, and what is left of two', async () => {
      const order = (path: string) => ({ path, version: '5.3', package: null })
      const input = { ...orderOf(site), plugins: [order('forms'), order('mail')] }
      const note = (canceled: boolean, failed: string[]) =>
        api.database.transaction((tx) =>
          noteUndoneUpdate(
            tx,
            { input, operationId: 7, canceled, now: () => now },
            failed.map((name) => ({ ...item, name, outcome: 'failed' as const, to: null })),
          ),
        )
      const item = { kind: 'plugin', from: '1.0', message: '' } as const
      await note(true, [])
      expect(await undone()).toEqual([
        ['forms', false],
        ['mail', false],
        ['shop', true],
      ])
      await note(false, [])
      expect((await undone()).slice(0, 2)).toEqual([
        ['forms', true],
        ['mail', true],
      ])
      await note(false, ['forms'])
      expect((await undone()).slice(0, 2)).toEqual([
        ['forms', false],
        ['mail', false],
      ])
    })
  })

  test('update what was not undone', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    now += 3 * HOUR_MS
    await plan()
    await finish('undone')
    await install(site, [{ name: 'forms' }, { name: 'mail' }])
    now += DAY_MS
    await plan()
    expect(await lastOrder()).toEqual(['mail 5.3'])
  })

  test.each([
    ['the policy of the site', (site: number) => setPolicy(site, { hour: 5 })],
    ['the default', () => setDefault({ hour: 5 })],
  ])('try them again after a change of %s', async (what, alter) => {
    const site = await siteNamed('one')
    const own = await siteNamed('own')
    await setDefault(daily)
    await setPolicy(own, daily)
    if (what !== 'the default') await setPolicy(site, daily)
    now += 3 * HOUR_MS
    await plan()
    await finish('undone')
    await alter(site)
    now += HOUR_MS
    await plan()
    expect(await sitesStarted()).toHaveLength(2)
    now += HOUR_MS
    await plan()
    // The other site has a policy of its own, which did not change.
    expect((await sitesStarted()).slice(2)).toEqual([site])
    expect((await policyOf(own)).undone).toHaveLength(1)
  })

  test('do not install again what a person has undone', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    const item = { kind: 'plugin', name: 'forms', outcome: 'updated', from: '1.0', to: '5.3', message: '' } as const
    await api.database.transaction(async (tx) => {
      await beginReport(tx, 900, site, now)
      await storeFindings(tx, 900, { items: [item], pages: [], logged: [], noPictures: null })
      await noteUndoneByPerson(tx, { siteId: site, from: site, by: 902, undoOf: 901 })
      await noteUndoneByPerson(tx, { siteId: site, from: site, by: 902 })
    })
    expect((await policyOf(site)).undone).toEqual([])
    await api.database.transaction((tx) => noteUndoneByPerson(tx, { siteId: site, from: site, by: 902, undoOf: 900 }))
    expect((await policyOf(site)).undone).toMatchObject([{ name: 'forms', version: '5.3', update_id: 900 }])
    now += 3 * HOUR_MS
    await plan()
    expect(await started()).toEqual([])
  })

  test('leave out what they exclude, of the default, too', async () => {
    const site = await siteNamed('one')
    await install(site, [{ name: 'forms' }, { name: 'mail' }, { name: 'shop' }], ['paper', 'wood'])
    await setDefault({ ...daily, exclude: ['Forms', 'paper'] })
    await setPolicy(site, { exclude: ['mail'] })
    now += 3 * HOUR_MS
    await plan()
    expect(await lastOrder()).toEqual(['shop 5.3', 'wood 5.3'])
    expect((await policyOf(site)).effective.exclude).toEqual(['Forms', 'paper', 'mail'])
    await finish('undone')
    await setPolicy(site, { ...daily, exclude: ['wood', 'wood'] })
    now += DAY_MS
    await plan()
    expect(await lastOrder()).toEqual(['forms 5.3', 'mail 5.3', 'shop 5.3', 'paper 5.3'])
  })

  test('inherit the default of the owner, in new sites and after a change', async () => {
    const [one, own] = [await siteNamed('one'), await siteNamed('own')]
    await setPolicy(own, { mode: 'off' })
    await setDefault({ ...daily, time_zone: 'Europe/Berlin' })
    expect(await policyOf(one)).toMatchObject({ mode: 'inherit', effective: { mode: 'daily', hour: 3 } })
    expect((await policyOf(one)).next_at).toBe('2026-02-01T02:00:00.000Z')
    const late = await siteNamed('late')
    await plan()
    expect((await policyOf(late)).next_at).toBe('2026-02-01T02:00:00.000Z')
    await setDefault({ mode: 'off' })
    expect([(await policyOf(one)).next_at, (await policyOf(late)).next_at]).toEqual([null, null])
    await setDefault({ mode: 'daily' })
    now += 3 * HOUR_MS
    await plan()
    expect(await sitesStarted()).toEqual([one, late])
  })

  test('skip a turn that is none of the current policy', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, daily)
    const other = await api.person('other@example.com')
    await setPolicy(site, { mode: 'inherit' })
    await setDefault(daily)
    await set(site, { account_id: other.accountId })
    now += 3 * HOUR_MS
    await plan()
    expect([await started(), await api.database.read.selectFrom('update_turns').selectAll().execute()]).toEqual([
      [],
      [],
    ])
  })

  test('look again soon after the clock was set back', async () => {
    const site = await siteNamed('one')
    now += 300 * DAY_MS
    await setPolicy(site, daily)
    now = START
    await plan()
    expect((await policyOf(site)).next_at).toBe('2026-02-01T03:00:00.000Z')
  })

  test('for security update what is vulnerable, if the update fixes it', async () => {
    const site = await siteNamed('one')
    await api.database.transaction((tx) =>
      withVulnerabilities(tx, [
        { slug: 'forms' },
        { slug: 'mail', to: '9.0', fixed: [] },
        { slug: 'old', to: '0.9' },
        { slug: 'paper', type: 'theme' },
      ]),
    )
    await install(site, [{ name: 'forms' }, { name: 'mail' }, { name: 'old' }, { name: 'new' }], ['paper', 'wood'])
    await setPolicy(site, { mode: 'security', hour: 3 })
    now += 3 * HOUR_MS
    await plan()
    expect(await lastOrder()).toEqual(['forms 5.3', 'paper 5.3'])
    // A plugin without a known vulnerability costs no question.
    expect(asked).toEqual(['forms', 'mail'])
  })

  test('for security need an update that WordPress offers, and a feed', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, { mode: 'security', hour: 3 })
    expect((await policyOf(site)).has_feed).toBe(false)
    now += 3 * HOUR_MS
    await plan()
    await api.database.transaction((tx) => withVulnerabilities(tx, [{ slug: 'forms' }]))
    await install(site, [{ name: 'forms', offered: null }])
    now += DAY_MS
    await plan()
    expect([await started(), await entries()]).toEqual([[], []])
    await install(site, [{ name: 'forms' }])
    now += DAY_MS
    await plan()
    expect(await lastOrder()).toEqual(['forms 5.3'])
  })

  test('are changed field by field, and recorded', async () => {
    const site = await siteNamed('one')
    await setPolicy(site, { mode: 'weekly', time_zone: 'europe/berlin' })
    await setPolicy(site, { exclude: ['shop', 'forms', 'shop'] })
    await setPolicy(site, { exclude: ['shop', 'forms'] })
    const { mode, weekday, hour, time_zone, exclude } = await policyOf(site)
    expect([mode, weekday, hour, time_zone, exclude]).toEqual([
      'weekly',
      'sunday',
      3,
      'Europe/Berlin',
      ['shop', 'forms'],
    ])
    const rows = api.database.read
      .selectFrom('activity')
      .select('message')
      .where('action', '=', 'update_policy.changed')
    expect((await rows.orderBy('id').execute()).map(({ message }) => message)).toEqual([
      'Changed the update policy from inherit to weekly, on sunday at 03:00 (Europe/Berlin)',
      'Changed what the update policy leaves out to shop, forms',
    ])
  })

  const hostile: [string, unknown][] = [
    ['{}', {}],
    ['an unknown mode', { mode: 'hourly' }],
    ['an hour too late', { hour: 24 }],
    ['half an hour', { hour: 3.5 }],
    ['a weekday of another language', { weekday: 'sonntag' }],
    ['an unknown zone', { time_zone: 'Mars/Olympus' }],
    ['an offset', { time_zone: '+02:00' }],
    ['a long zone', { time_zone: 'A'.repeat(10_000) }],
    ['a path', { exclude: ['../../etc'] }],
    ['a zero byte', { exclude: ['a\0b'] }],
    ['a long name', { exclude: ['a'.repeat(201)] }],
    ['too many', { exclude: Array.from({ length: MOST_EXCLUDED + 1 }, (_, n) => `p${n}`) }],
    ['no list', { exclude: { length: 1 } }],
  ]
  test.each(hostile)('refuse %s, and change nothing', async (_what, body) => {
    const site = await siteNamed('one')
    for (const path of [`/v1/sites/${site}/update-policy`, '/v1/account/update-policy'])
      expect([path, (await owner.call('PUT', path, body)).status]).toEqual([path, 400])
    for (const table of ['account_update_policies', 'site_update_policies', 'update_turns'] as const)
      expect(await api.database.read.selectFrom(table).selectAll().execute()).toEqual([])
  })

  test('an account has nothing to inherit from', async () => {
    expect((await owner.call('PUT', '/v1/account/update-policy', { mode: 'inherit' })).status).toBe(400)
  })

  test('need the right to manage plugins of the site', async () => {
    const site = await siteNamed('one')
    const [mate, stranger] = [await api.person('mate@example.com'), await api.person('stranger@example.com')]
    await api.collaborate(mate, site, ['manage_notes'])
    const path = `/v1/sites/${site}/update-policy`
    expect((await mate.call('PUT', path, daily)).status).toBe(403)
    expect((await mate.call('GET', path)).status).toBe(200)
    expect((await stranger.call('PUT', path, daily)).status).toBe(404)
    expect((await stranger.call('GET', path)).status).toBe(404)
    await api.collaborate(mate, site, ['plugin_management_access'])
    await setPolicy(site, daily, mate)
    // The default is that of the owner, not of the collaborator.
    expect((await mate.call('PUT', '/v1/account/update-policy', daily)).status).toBe(200)
    await setPolicy(site, { mode: 'inherit' }, mate)
    expect((await policyOf(site)).effective.mode).toBe('off')
  })
})
