import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { addUptime, sitesToAsk, statesOfEdge } from '../../edge/monitor/monitor.store.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { forgetEdges } from './forget-history.store.ts'
import { judgeSite } from './judge-site.ts'
import { edgesSay } from './monitoring.fixture.ts'
import { sitesWithNews } from './monitoring.store.ts'
import { verdictOf } from './verdict.ts'

const vote = (state: 'up' | 'slow' | 'down' | 'paused', since = 5) => ({
  ...{ state, since, detail: state },
  reason: state === 'up' || state === 'paused' ? null : ('status' as const),
})

test.each([
  [[], undefined],
  [['down'], 'down'],
  [['down', 'up'], 'up'],
  [['down', 'down'], 'down'],
  [['down', 'down', 'up', 'up'], 'down'],
  [['down', 'down', 'up', 'up', 'up'], 'up'],
  [['down', 'paused'], 'down'],
  [['paused', 'paused'], 'paused'],
  [['slow', 'down'], 'slow'],
  [['slow', 'up'], 'up'],
  [['up', 'up'], 'up'],
] as const)('of the edges %j, the site is %s', (states, state) => {
  expect(verdictOf(states.map((each) => vote(each)))?.state).toBe(state)
})

test('the first of several edges says since when', () => {
  expect(verdictOf([vote('down', 9), vote('down', 7)])?.since).toBe(7)
})

describe.each(dialects)('monitoring on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  let stranger: Person
  let site = 0
  let foreign = 0
  let named = 0
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    stranger = await api.person('stranger@example.com')
    foreign = await api.site(stranger, 'foreign-one')
  })
  beforeEach(async () => {
    named++
    site = await api.site(owner, `shop-${named}`)
  })
  afterAll(() => api?.close())

  const uptime = async (id = site) => (await owner.call('GET', `/v1/sites/${id}/uptime`)).body.data
  const eventsOf = async (id: number) =>
    (await api.database.read.selectFrom('events').select(['type', 'data']).where('site_id', '=', id).execute()).filter(
      ({ type }) => type === 'site_down' || type === 'site_up',
    )
  const list = async (who: Person, query = '') => {
    const { body } = await who.call('GET', `/v1/monitoring${query}`)
    return body
  }

  test('200: a new site is unknown, and has 90 days', async () => {
    const found = await uptime()
    expect(found).toMatchObject({ state: 'unknown', since: null, percent: null, edges: { asking: 0, down: 0 } })
    expect(found.days).toHaveLength(90)
    expect(found.days[89]).toMatchObject({ percent: null, asked: 0 })
  })

  test('an incident begins and ends with events and entries of the log', async () => {
    const now = Date.now()
    await edgesSay(api, site, { one: 'up' }, now - 900_000)
    await edgesSay(api, site, { one: 'down' }, now - 600_000)
    // Judged again, with the same result.
    await edgesSay(api, site, { one: 'down' }, now - 500_000)
    // The same incident, with another reason.
    await edgesSay(api, site, { one: 'down' }, now - 400_000, 'The front page answers 503')
    const { body: open } = await owner.call('GET', `/v1/sites/${site}/incidents`)
    expect(open.data).toEqual([
      {
        ...{ id: expect.any(Number), began_at: new Date(now - 600_000).toISOString(), ended_at: null },
        ...{ reason: 'status', detail: 'The front page answers 502' },
      },
    ])
    await edgesSay(api, site, { one: 'up' }, now)
    const found = await uptime()
    expect(found).toMatchObject({ state: 'up', edges: { asking: 1, down: 0 } })
    expect(found.incidents).toMatchObject([{ id: open.data[0].id, ended_at: new Date(now).toISOString() }])
    const events = await eventsOf(site)
    expect(events.map(({ type }) => type)).toEqual(['site_down', 'site_up'])
    expect(JSON.parse(events[1]?.data as string)).toMatchObject({ incident_id: open.data[0].id, reason: 'status' })
    const { body: log } = await owner.call('POST', `/v1/sites/${site}/logs/activity`, {})
    const texts = JSON.stringify(log.data)
    expect(texts).toContain('The site is down: The front page answers 502')
    expect(texts).toContain('The site is up again after 10 minutes')
  })

  test('a site that is closed meanwhile is not up again', async () => {
    await edgesSay(api, site, { one: 'down' })
    await edgesSay(api, site, { one: 'paused' })
    expect(await uptime()).toMatchObject({ state: 'paused', incidents: [{ ended_at: expect.any(String) }] })
    expect((await eventsOf(site)).map(({ type }) => type)).toEqual(['site_down'])
  })

  test('one edge of several opens no incident, and one that has ended has no voice', async () => {
    const now = Date.now()
    await edgesSay(api, site, { one: 'up', two: 'down' }, now)
    expect(await uptime()).toMatchObject({ state: 'up', edges: { asking: 2, down: 1 } })
    const later = now + 600_000
    await edgesSay(api, site, { two: 'down' }, later)
    expect((await eventsOf(site)).map(({ type }) => type)).toEqual(['site_down'])
    // No edge asks any longer, so nothing changes, and nothing is known.
    await api.database.transaction((tx) => judgeSite(tx, site, [], later + 900_000))
    expect((await eventsOf(site)).map(({ type }) => type)).toEqual(['site_down'])
    await api.database.transaction((tx) => tx.deleteFrom('monitoring_edges').execute())
    expect(await uptime()).toMatchObject({ state: 'unknown', reason: null, edges: { asking: 0 } })
    expect((await list(owner, '?state=up')).data).toEqual([])
  })

  test('the percentage never hides a failure, and counts of edges add up', async () => {
    const today = dayOf(Date.now())
    const day = { site_id: site, day: today, slow: 1 }
    await api.database.transaction(async (tx) => {
      await addUptime(tx, [{ ...day, asked: 60_000, failed: 0 }])
      await addUptime(tx, [{ ...day, asked: 60_000, failed: 1 }])
      await addUptime(tx, [{ ...day, day: today - 89, asked: 10, failed: 10 }])
      // From a clock that was wrong, and too old.
      await addUptime(tx, [{ ...day, day: today + 9, asked: 10, failed: 10 }])
      await addUptime(tx, [{ ...day, day: today - 90, asked: 10, failed: 10 }])
    })
    const found = await uptime()
    expect(found.days[89]).toMatchObject({ asked: 120_000, failed: 1, slow: 2, percent: 99.999 })
    expect(found.days[0]).toMatchObject({ percent: 0 })
    expect(found.percent).toBe(99.99)
  })

  test('200: lists the sites that the caller sees, by state', async () => {
    await edgesSay(api, site, { one: 'down' })
    await edgesSay(api, foreign, { one: 'down' })
    const { data, page } = await list(owner, '?state=down&per_page=50')
    expect(data.filter(({ id }: { id: number }) => id === site)).toMatchObject([
      { state: 'down', reason: 'status', days: expect.any(Array) },
    ])
    expect(data.map(({ state }: { state: string }) => state)).toEqual(Array(page.totalItems).fill('down'))
    expect(data.map(({ id }: { id: number }) => id)).not.toContain(foreign)
    expect((await list(owner)).page.totalItems).toBe(named)
    expect((await list(stranger)).data).toMatchObject([{ id: foreign }])
    expect((await owner.call('GET', `/v1/sites/${foreign}/uptime`)).status).toBe(404)
    expect((await owner.call('GET', `/v1/sites/${foreign}/incidents`)).status).toBe(404)
    const unknown = (await list(owner, '?state=unknown&per_page=50')).data.map(({ id }: { id: number }) => id)
    expect(unknown).not.toContain(site)
    expect((await list(owner, `?after=${site - 1}&per_page=1`)).data).toMatchObject([{ id: site }])
    expect((await owner.call('GET', '/v1/monitoring?state=tired')).status).toBe(400)
  })

  test('a site that is deleted has no open incident', async () => {
    await edgesSay(api, site, { one: 'down' })
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ deleted_at: 5 }).where('id', '=', site).execute(),
    )
    await edgesSay(api, site, { one: 'down' })
    const open = api.database.read.selectFrom('site_incidents').selectAll().where('site_id', '=', site)
    expect(await open.execute()).toMatchObject([{ ended_at: expect.any(Number) }])
    expect(
      await api.database.read.selectFrom('monitoring_states').selectAll().where('site_id', '=', site).execute(),
    ).toEqual([])
    expect(await sitesWithNews(api.database.read, 9)).toEqual([])
  })

  test('edges ask for the primary domain, of sites that are not deleted', async () => {
    await api.database.transaction(async (tx) => {
      for (const id of [foreign, site])
        await tx
          .insertInto('routes')
          .values({ host_name: `s${id}.localhost`, site_id: id, changed_at: 1 })
          .execute()
      await tx.updateTable('sites').set({ primary_domain: 'shop.example.com' }).where('id', '=', site).execute()
    })
    const found = await sitesToAsk(api.database.read, site - 1, 9)
    expect(found).toEqual([{ siteId: site, hostName: 'shop.example.com', isDomain: true }])
    expect(await sitesToAsk(api.database.read, 0, 1)).toMatchObject([{ isDomain: false }])
  })

  test('an edge that has gone is forgotten, with what it said', async () => {
    await edgesSay(api, site, { old: 'up' }, 5_000)
    await edgesSay(api, site, { young: 'up' }, 9_000)
    const { transaction } = api.database
    for (let more = 1; more > 0; ) more = await transaction((tx) => forgetEdges(tx, 7_000, 1))
    expect(await statesOfEdge(api.database.read, 'old', 0, 9)).toEqual([])
    expect(await statesOfEdge(api.database.read, 'young', 0, 9)).toHaveLength(1)
  })
})
