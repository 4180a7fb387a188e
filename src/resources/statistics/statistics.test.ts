import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects, testDatabase } from '../../../test/support/database.ts'
import { fillWithMany } from '../../../test/support/many.ts'
import { saltOfDay, storeViews } from '../../edge/records/page-views.store.ts'
import { createPageViews, type PageViewCounter } from '../../edge/records/page-views.ts'
import { ask, createCleanup, routeTo, startGateway, startHost } from '../../edge/test-support.ts'
import { diskUsages } from '../../hosting/site-files/disk-usage.ts'
import { openDatabase } from '../../platform/db/database.ts'
import { noLog } from '../../platform/log/log.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { recordView, VIEW_EVERY_MS } from '../activity/record-view.ts'
import type { Caller } from '../kit/caller.ts'
import type { Context } from '../kit/context.ts'
import { madeMeasurement, withReportIn } from '../performance-reports/performance-reports.fixture.ts'
import { insertReport } from '../performance-reports/report.store.ts'
import { actions } from './actions.ts'
import { forgetVisitors } from './forget.store.ts'
import { measureSites } from './measure-sites.job.ts'
import { refreshOpenWindows, refreshPageViews } from './refresh-statistics.job.ts'
import { storeUsages } from './statistics.store.ts'

const browsers = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 14_6) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
]
const bots = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
  'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
  'curl/8.10.1',
  'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)',
  'UptimeRobot/2.0',
]
const nothing = { people: 0, views: 0 }
const backup = (site_id: number, taken_at: number, state: 'completed' | 'failed' = 'completed') =>
  ({ site_id, kind: 'db', origin: 'scheduled', state, requested_at: 1, taken_at, delete_at: 1 }) as const

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`statistics on ${dialect}`, () => {
    const cleanup = createCleanup()
    let api: TestApi
    let owner: Person
    let siteId: number

    beforeEach(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      siteId = await api.site(owner, 'counted')
    })
    afterEach(async () => {
      await cleanup.run()
      await api.close()
    })

    const detail = async (id = siteId) => (await owner.call('GET', `/v1/sites/${id}`)).body.data.pageViews
    const statistics = async (id = siteId) => (await owner.call('GET', `/v1/sites/${id}/statistics`)).body.data
    const account = async () => (await owner.call('GET', '/v1/account')).body.data.pageViews

    test('logs who read them on the site, once an hour for each person', async () => {
      const log = api.database.read.selectFrom('activity').select(['action', 'actor_email', 'source']).orderBy('id')
      const views = () => log.where('action', 'like', 'report.%').where('site_id', '=', siteId).execute()
      await Promise.all([statistics(), statistics()])
      await statistics()
      const entry = { actor_email: owner.email, source: 'api.v1' }
      const both = [
        { action: 'report.page_views', ...entry },
        { action: 'report.space_usage', ...entry },
      ]
      expect((await views()).sort((one, other) => (one.action < other.action ? -1 : 1))).toEqual(both)
      // In another process, an hour later.
      await api.database.transaction((tx) => tx.updateTable('activity').set({ created_at: 1 }).execute())
      const action = actions['report.page_views']
      const caller = { accountId: owner.accountId, accountEmail: owner.email } as Caller
      const request = { ipAddress: '192.0.2.1', userAgent: '' } as Context['request']
      const context = { database: api.database, caller, request, now: VIEW_EVERY_MS }
      await recordView(context, { site: { id: siteId, accountId: owner.accountId }, action, message: 'Again' })
      expect(await views()).toHaveLength(2)
      const later = { ...context, now: 1 + VIEW_EVERY_MS }
      await recordView(later, { site: { id: siteId, accountId: owner.accountId }, action, message: 'Again' })
      expect(await views()).toHaveLength(3)
    })

    test('returns statistics of those sites that the caller sees, without a log entry', async () => {
      const today = dayOf(Date.now())
      const [quiet, foreign] = [
        await api.site(owner, 'quiet'),
        await api.site(await api.person('stranger@example.com'), 'foreign'),
      ]
      const row = (site_id: number, day: number, views: number) => ({ site_id, day, people: 1, views })
      await api.database.transaction(async (tx) => {
        const rows = [
          row(siteId, today, 2),
          row(siteId, today - 29, 4),
          row(siteId, today - 30, 6),
          row(foreign, today, 8),
        ]
        await tx.insertInto('page_view_days').values(rows).execute()
        await storeUsages(tx, new Map([[siteId, { fileBytes: 12, databaseBytes: 34 }]]), 1)
        await tx
          .insertInto('backups')
          .values([backup(siteId, 1000), backup(siteId, 3000), backup(siteId, 9000, 'failed')])
          .execute()
      })
      const reportId = await api.database.transaction(async (tx) => {
        await withReportIn(tx, foreign)
        const pictured = await withReportIn(tx, siteId)
        const half = { ...madeMeasurement, thumbnail: null }
        await insertReport(tx, siteId, { desktop: half, mobile: madeMeasurement }, 2)
        return pictured
      })
      const ids = { site_ids: [quiet, siteId, foreign] }
      const { data } = (await owner.call('POST', '/v1/sites/statistics', ids)).body
      const none = Array.from({ length: 30 }, () => 0)
      expect(data).toEqual([
        {
          id: siteId,
          views: [4, ...none.slice(2), 2],
          databaseUsageBytes: 34,
          fileSystemUsageBytes: 12,
          lastBackupAt: '1970-01-01T00:00:03.000Z',
          pictureLocation: `/v1/sites/${siteId}/reports/performance/${reportId}/thumbnails/desktop`,
        },
        {
          id: quiet,
          views: none,
          databaseUsageBytes: 0,
          fileSystemUsageBytes: 0,
          lastBackupAt: null,
          pictureLocation: null,
        },
      ])
      const log = api.database.read.selectFrom('activity').select('id').where('action', 'like', 'report.%')
      expect(await log.execute()).toEqual([])
    })

    test("days: each up to today, with the views of that day, and none of another site's", async () => {
      const today = dayOf(Date.now())
      const other = await api.site(owner, 'other')
      const row = (site_id: number, day: number, people: number, views: number) => ({ site_id, day, people, views })
      await api.database.transaction((tx) =>
        tx
          .insertInto('page_view_days')
          .values([
            row(siteId, today, 1, 2),
            row(siteId, today - 2, 3, 4),
            row(siteId, today - 30, 5, 6),
            row(other, today - 1, 7, 8),
          ])
          .execute(),
      )
      const days = async (query: string) => owner.call('GET', `/v1/sites/${siteId}/statistics/days${query}`)
      const dateOf = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10)
      const { data } = (await days('')).body
      expect(data).toHaveLength(30)
      expect(data[0]).toEqual({ date: dateOf(today - 29), people: 0, views: 0 })
      expect(data.slice(-3)).toEqual([
        { date: dateOf(today - 2), people: 3, views: 4 },
        { date: dateOf(today - 1), people: 0, views: 0 },
        { date: dateOf(today), people: 1, views: 2 },
      ])
      expect((await days('?days=31')).body.data[0]).toEqual({ date: dateOf(today - 30), people: 5, views: 6 })
      expect((await days('?days=1')).body.data).toHaveLength(1)
      for (const wrong of ['0', '367', 'x']) expect((await days(`?days=${wrong}`)).status).toBe(400)
    })

    /** What an edge process uses to count, on a separate connection. */
    async function counter(): Promise<PageViewCounter> {
      const database = await openDatabase(api.connection)
      const views = createPageViews({
        salt: (day) => saltOfDay(database, day),
        store: (counted) => database.transaction((tx) => storeViews(tx, counted)),
        log: { warn: (facts) => console.error(facts) },
        flushMs: 20,
      })
      cleanup.add(async () => {
        await views.close()
        await database.close()
      })
      return views
    }

    test('counts a replay of browsers and bots through two gateways exactly', async () => {
      const upstream = await startHost(cleanup, (request, response) => {
        const html = { 'content-type': 'text/html; charset=UTF-8' }
        if (request.url === '/style.css') response.writeHead(200, { 'content-type': 'text/css' }).end('a{}')
        else if (request.url === '/wp-json/') response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
        else if (request.url === '/moved') response.writeHead(301, { location: '/', ...html }).end('moved')
        else if (request.url === '/gone') response.writeHead(404, html).end('gone')
        else if (request.headers['if-none-match']) response.writeHead(304, html).end()
        else response.writeHead(200, html).end('<!doctype html>')
      })
      const edges = await Promise.all(
        [1, 2].map(async () => {
          const views = await counter()
          const route = routeTo(upstream, { siteId })
          const gateway = await startGateway(
            cleanup,
            { 'site.test': route },
            {
              trustProxy: ['127.0.0.1'],
              onAccess: (entry, contentType) => views.count(entry, contentType),
            },
          )
          return { views, ...gateway }
        }),
      )
      let expected = 0
      const people = new Set<string>()
      let request = 0
      const visit = async (path: string, agent: string, address: string, options: Parameters<typeof ask>[2] = {}) => {
        const edge = edges[request++ % 2] as (typeof edges)[0]
        await ask(edge.port, path, {
          ...options,
          headers: { 'user-agent': agent, 'x-forwarded-for': address, ...options.headers },
        })
      }
      for (let round = 0; round < 12; round++) {
        const address = `198.51.100.${round % 5}`
        const agent = browsers[round % browsers.length] as string
        for (const path of ['/', '/about/?x=1', '/wp-administration/', '/wp-login.phpx']) {
          await visit(path, agent, address)
          expected++
          people.add(`${address} ${agent}`)
        }
        for (const path of [
          '/style.css',
          '/wp-json/',
          '/moved',
          '/gone',
          '/wp-admin/',
          '/wp-login.php?a=b',
          '/sub/wp-admin/x',
        ])
          await visit(path, agent, address)
        await visit('/', agent, address, { headers: { 'if-none-match': '"x"' } })
        await visit('/', agent, address, { method: 'HEAD' })
        await visit('/', agent, address, { method: 'POST', body: 'a=b' })
        for (const bot of bots) await visit('/', bot, '203.0.113.9')
      }
      await Promise.all(edges.map(({ views }) => views.flush()))
      expect(await detail()).toMatchObject({ today: nothing })
      await refreshPageViews(api.database, Date.now())
      const counted = { people: people.size, views: expected }
      expect((await statistics()).pageViews).toEqual({
        today: counted,
        yesterday: nothing,
        currentMonth: counted,
        lastMonth: nothing,
        twoMonthsAgo: nothing,
        lastOneYear: counted,
        lastTwoYears: counted,
      })
      const all = {
        allTime: counted,
        lastTwoYearsIsAllTime: counted,
        currentMonth: counted,
        lastMonth: nothing,
        today: counted,
        twoMonthsAgo: nothing,
        yesterday: nothing,
      }
      expect(await detail()).toEqual(all)
      expect(await account()).toEqual(all)
    })

    test('stores no address or user agent, and deletes the salt with its day', async () => {
      const views = await counter()
      const day = dayOf(Date.now())
      const entry = {
        siteId,
        date: new Date().toISOString(),
        http_user_agent: browsers[0] as string,
        request_type: 'GET',
        request_url: '/',
        status: 200,
        user_ip: '198.51.100.77',
      }
      views.count(entry, 'text/html')
      await views.flush()
      const rows = JSON.stringify(await api.database.read.selectFrom('visitors').selectAll().execute())
      expect(rows).not.toMatch(/198\.51|Mozilla/)
      const forget = async (before: number) => {
        while ((await api.database.transaction((tx) => forgetVisitors(tx, before, 2))) > 0);
      }
      await forget(day)
      expect(await api.database.read.selectFrom('visitors').select('day').execute()).toHaveLength(1)
      await forget(day + 1)
      expect(await api.database.read.selectFrom('visitors').select('day').execute()).toEqual([])
      expect(await api.database.read.selectFrom('visitor_days').select('day').execute()).toEqual([])
    })

    test('adds up the windows of sites and account, also at the turn of a year', async () => {
      const other = await api.site(owner, 'other-site')
      const gone = await api.site(owner, 'gone-site')
      const now = Date.parse('2027-01-01T00:05:00Z')
      const add = (id: number, date: string, views: number, people: number) => {
        const day = dayOf(Date.parse(date))
        return api.database.transaction((tx) =>
          tx.insertInto('page_view_days').values({ site_id: id, day, views, people }).execute(),
        )
      }
      await add(siteId, '2027-01-01', 1, 1)
      await add(siteId, '2026-12-31', 20, 10)
      await add(siteId, '2026-12-01', 300, 100)
      await add(siteId, '2026-11-30', 4000, 1000)
      await add(siteId, '2026-01-01', 50_000, 10_000)
      await add(siteId, '2025-01-01', 600_000, 100_000)
      await add(siteId, '2024-12-31', 600_000, 100_000)
      await add(other, '2026-12-31', 7, 7)
      await add(gone, '2026-12-31', 9, 9)
      await api.database.transaction((tx) =>
        tx.updateTable('sites').set({ deleted_at: 1 }).where('id', '=', gone).execute(),
      )
      await refreshPageViews(api.database, now)
      expect(await detail()).toEqual({
        today: { views: 1, people: 1 },
        yesterday: { views: 20, people: 10 },
        currentMonth: { views: 1, people: 1 },
        lastMonth: { views: 320, people: 110 },
        twoMonthsAgo: { views: 4000, people: 1000 },
        lastTwoYearsIsAllTime: { views: 54_321, people: 11_111 },
        allTime: { views: 1_254_321, people: 211_111 },
      })
      expect((await statistics()).pageViews.lastOneYear).toEqual({ views: 4321, people: 1111 })
      expect(await account()).toMatchObject({ yesterday: { views: 27, people: 17 } })
      await refreshPageViews(api.database, now + 86_400_000)
      expect(await detail()).toMatchObject({ today: nothing, yesterday: { views: 1, people: 1 } })
    })

    test('updates open windows during the day for visited sites, and leaves closed ones', async () => {
      const morning = Date.parse('2027-03-10T08:00:00Z')
      const put = (id: number, date: string, views: number, people: number) =>
        api.database.transaction((tx) =>
          tx
            .insertInto('page_view_days')
            .values({ site_id: id, day: dayOf(Date.parse(date)), views, people })
            .onConflict((conflict) => conflict.columns(['site_id', 'day']).doUpdateSet({ views, people }))
            .execute(),
        )
      const other = await api.site(owner, 'other-site')
      await put(siteId, '2027-03-01', 100, 50)
      await put(siteId, '2027-02-01', 1000, 500)
      await put(other, '2027-02-01', 7, 7)
      await refreshPageViews(api.database, morning - 86_400_000)
      await put(siteId, '2027-03-10', 3, 2)
      // The sums are from yesterday, so the site is summed up again.
      await refreshOpenWindows(api.database, morning)
      expect(await detail()).toMatchObject({
        today: { views: 3, people: 2 },
        yesterday: nothing,
        currentMonth: { views: 103, people: 52 },
        lastMonth: { views: 1000, people: 500 },
        allTime: { views: 1103, people: 552 },
      })
      await put(siteId, '2027-03-10', 5, 3)
      await put(siteId, '2027-02-01', 9999, 9999)
      await refreshOpenWindows(api.database, morning + 300_000)
      await refreshOpenWindows(api.database, morning + 600_000)
      expect(await detail()).toMatchObject({
        today: { views: 5, people: 3 },
        currentMonth: { views: 105, people: 53 },
        lastMonth: { views: 1000, people: 500 },
        lastTwoYearsIsAllTime: { views: 1105, people: 553 },
      })
      expect(await account()).toMatchObject({ today: { views: 5, people: 3 }, lastMonth: { views: 1007, people: 507 } })
    })

    test('stores storage and page views without overwriting the other', async () => {
      await api.database.transaction((tx) =>
        storeUsages(tx, new Map([[siteId, { fileBytes: 12, databaseBytes: 34 }]]), 1),
      )
      expect(await statistics()).toMatchObject({ id: siteId, fileSystemUsageBytes: 12, databaseUsageBytes: 34 })
      await refreshPageViews(api.database, Date.now())
      await api.database.transaction((tx) =>
        storeUsages(tx, new Map([[siteId, { fileBytes: 56, databaseBytes: 34 }]]), 1),
      )
      expect(await statistics()).toMatchObject({
        fileSystemUsageBytes: 56,
        databaseUsageBytes: 34,
        pageViews: { today: nothing },
      })
    })

    test('keeps page views while the database is down, up to a limit', async () => {
      let fails = true
      const stored: { views: number; visitors: readonly string[] }[] = []
      const views = createPageViews({
        salt: async () => 'salt',
        async store(counted) {
          if (fails) throw new Error('no')
          stored.push(...counted)
        },
        log: { warn: () => {} },
        flushMs: 60_000,
        mostWaitingBytes: 10 * (browsers[0] as string).length + 10 * 109,
      })
      const entry = { date: new Date().toISOString(), request_type: 'GET', request_url: '/', status: 200, siteId: 1 }
      for (let n = 0; n < 30; n++) {
        views.count({ ...entry, http_user_agent: browsers[0] as string, user_ip: `10.0.0.${n}` }, 'text/html')
        if (n % 10 === 0) await views.flush()
      }
      fails = false
      await views.close()
      expect(stored).toMatchObject([{ views: 30 }])
      expect(stored[0]?.visitors).toHaveLength(10)
    })
  })
}

test('measures all files of the folder, follows no links, and counts zero for a missing one', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'stead-usage-'))
  try {
    await mkdir(join(directory, 'web/a/b'), { recursive: true })
    await mkdir(join(directory, 'outside'))
    await writeFile(join(directory, 'outside/big'), Buffer.alloc(5 << 20, 1))
    await writeFile(join(directory, 'web/a/b/file'), Buffer.alloc(1 << 20, 1))
    await symlink(join(directory, 'outside'), join(directory, 'web/link'))
    await symlink(join(directory, 'outside'), join(directory, 'linked'))
    const [[web = 0, missing, linked = 0] = []] = await diskUsages([directory], ['web', 'missing', 'linked'])
    expect(web).toBeGreaterThanOrEqual(1 << 20)
    expect(web).toBeLessThan(2 << 20)
    expect(missing).toBe(0)
    expect(linked).toBeLessThan(1 << 20)
  } finally {
    await rm(directory, { recursive: true })
  }
})

test('measures nothing for no sites', async () => {
  vi.stubEnv('PATH', '/nonexistent')
  try {
    await expect(diskUsages([tmpdir()], ['web'])).rejects.toThrow('ENOENT')
    expect(await diskUsages([], ['web'])).toEqual([])
  } finally {
    vi.unstubAllEnvs()
  }
})

test('measures the sites of a host together, and a failing one does not stop the others', async () => {
  const { database, drop } = await testDatabase('sqlite')
  const folder = await mkdtemp(join(tmpdir(), 'stead usage-'))
  try {
    // More than are measured together.
    const SITES = 55
    await database.transaction(async (tx) => {
      await fillWithMany(tx, { sites: SITES, collaboratorsASite: 1, logEntriesASite: 0 })
      for (let id = 1; id <= SITES; id++)
        await tx
          .insertInto('site_homes')
          .values({ host_id: 1, state: 'taken', core_version: '6.8', install: 'wordpress', site_id: id, created_at: 1 })
          .execute()
      await tx.updateTable('sites').set({ written_address: 'old.example.com' }).execute()
    })
    // The second has no site directory. Another, which is measured with few, has a server that does not answer.
    const FAILING = 53
    for (let id = 1; id <= SITES; id++) {
      await mkdir(join(folder, String(id), 'web'), { recursive: true })
      await writeFile(join(folder, String(id), 'web/file'), Buffer.alloc(id * 8192, 1))
    }
    const path = (id: number) => join(folder, String(id))
    const services = {
      ...{ database, hostId: 1 },
      siteDirectories: {
        ofSite: async (id: number) =>
          id === 2 ? undefined : { id, path: path(id), database: id === FAILING ? 'mariadb' : 'sqlite' },
      },
      siteDatabase: { size: () => Promise.reject(new Error('the server is away')) },
    }
    const warned: unknown[] = []
    const { run } = measureSites.steps.measure as unknown as { run(context: object): Promise<unknown> }
    const told: number[] = []
    await run({
      ...{
        services,
        input: {},
        now: () => 1,
        progress: (done: number) => told.push(done),
        transaction: database.transaction,
      },
      signal: new AbortController().signal,
      log: { ...noLog, warn: (facts: { siteId: number }) => warned.push(facts.siteId) },
    })
    const rows = await database.read.selectFrom('site_statistics').select(['site_id', 'file_bytes']).execute()
    const all = Array.from({ length: SITES }, (_, n) => n + 1)
    const ids = rows.map(({ site_id }) => site_id)
    expect(ids).toEqual(all.filter((id) => id !== 2 && id !== FAILING))
    expect(rows.map(({ file_bytes }) => [file_bytes])).toEqual(await diskUsages(ids.map(path), ['web']))
    expect(warned).toEqual([FAILING])
    expect(told).toEqual([50 / SITES, 1])
    // After an abort, it measures no further site and stores nothing.
    const before = warned.length
    const ended = run({
      ...{ services, input: {}, now: () => 2, progress: () => {}, transaction: database.transaction },
      ...{ signal: AbortSignal.abort(new Error('asked to end')), log: noLog },
    })
    await expect(ended).rejects.toThrow('asked to end')
    expect(warned).toHaveLength(before)
  } finally {
    await drop()
    await rm(folder, { recursive: true })
  }
})
