import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../test/support/fake-host.ts'
import { MeasureImpossible, type PageToMeasure } from '../../hosting/page-measure/measure-page.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import type { Worker } from '../../platform/operations/worker/worker.ts'
import { changeBy } from '../kit/change.ts'
import { findSite } from '../sites/site.store.ts'
import { configureSite } from '../sites/switches/configure-site.job.ts'
import { makeReport } from './make-report.job.ts'
import { type Measurement, readMeasurement } from './measured.ts'
import { madeMeasurement, measuredPage } from './performance-reports.fixture.ts'
import { planReports } from './plan-reports.job.ts'
import { dueSites, insertReport, noteAttempt } from './report.store.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe.each(dialects)('performance reports on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let host: FakeHost
  let owner: Person
  let site: number
  let worker: Worker | undefined

  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    host = await fakeHost(api)
    owner = await api.person('owner@example.com')
    site = await newSite('measured')
  })
  afterEach(async () => {
    await worker?.stop(5000)
    worker = undefined
    await host?.close()
    await api?.close()
  })

  async function newSite(name: string): Promise<number> {
    const id = await api.site(owner, name)
    await host.giveDirectory(id)
    return id
  }
  const canMeasure = (can = true) =>
    api.database.transaction((tx) =>
      tx
        .updateTable('hosts')
        .set({ facts: JSON.stringify({ canMeasurePages: can }) })
        .execute(),
    )
  const due = async (now: number) => {
    const found = await dueSites(api.database.read, makeReport.name, { before: now - DAY_MS, now })
    return found.map(({ siteId }) => siteId)
  }
  const attempted = (id: number, at: number) => api.database.transaction((tx) => noteAttempt(tx, id, at))
  const work = (measurePage: (page: PageToMeasure) => Promise<unknown>) => {
    const services = { ...host.services, measurePage }
    worker = startWorker(api.database, [{ ...makeReport, attempts: 1 }], {
      ...{ runner: 'host', hostId: host.hostId, services, lookEveryMs: 20 },
    })
  }
  const order = async () => {
    const { status, headers } = await owner.call('POST', `/v1/sites/${site}/reports/performance`)
    expect(status).toBe(200)
    return Number(headers['operation-id'])
  }
  const latest = async (id = site) => (await owner.call('GET', `/v1/sites/${id}/reports/performance/latest`)).body.data

  describe('start automatically', () => {
    test('one at a time on a host: a new site first, then the longest waiting, each once a day', async () => {
      await canMeasure()
      const other = await newSite('other')
      const now = 10 * DAY_MS
      await attempted(site, now - 2 * DAY_MS)
      expect(await due(now)).toEqual([other])
      await attempted(other, now - 3 * DAY_MS)
      expect(await due(now)).toEqual([other])
      await attempted(other, now - HOUR_MS)
      expect(await due(now)).toEqual([site])
      await attempted(site, now - DAY_MS + 1)
      expect(await due(now)).toEqual([])
      // The clock has been set back since.
      await attempted(other, now + 1)
      expect(await due(now)).toEqual([other])
    })

    test('none on a host with a running report, nor of a site that is busy, not live or deleted, nor without a browser', async () => {
      const now = 10 * DAY_MS
      expect(await due(now)).toEqual([])
      await canMeasure()
      expect(await due(now)).toEqual([site])
      const other = await newSite('other')
      await api.database.transaction((tx) =>
        enqueue(tx, makeReport, { siteId: other }, { siteId: other, accountId: owner.accountId, hostId: host.hostId }),
      )
      expect(await due(now)).toEqual([])
      const change = (set: object) => api.database.transaction((tx) => tx.updateTable('operations').set(set).execute())
      await change({ type: 'site.configure', site_id: site })
      expect(await due(now)).toEqual([other])
      await change({ finished_at: 1, state: 'succeeded' })
      const setSite = (set: object) =>
        api.database.transaction((tx) => tx.updateTable('sites').set(set).where('id', '=', site).execute())
      expect(await due(now)).toEqual([site])
      await setSite({ state: 'disabled' })
      expect(await due(now)).toEqual([other])
      // Visitors get another page, and so would the browser.
      await setSite({ state: 'live', maintenance: 1 })
      expect(await due(now)).toEqual([other])
      await setSite({ maintenance: 0, defensive_until: now + 1 })
      expect(await due(now)).toEqual([other])
      await setSite({ defensive_until: now })
      expect(await due(now)).toEqual([site])
      await setSite({ state: 'live', deleted_at: 1 })
      expect(await due(now)).toEqual([other])
      await canMeasure(false)
      expect(await due(now)).toEqual([])
    })

    test.each([
      [24, 1],
      [0, 0],
    ])('every %i hours: %i started, and recorded', async (performanceReportHours, ordered) => {
      await canMeasure()
      const services = { database: api.database, config: { ...api.config, performanceReportHours } }
      const planner = startWorker(api.database, [planReports], { runner: 'control', services, lookEveryMs: 20 })
      try {
        for (let turn = 0; turn < 2; turn++) {
          const id = await api.database.transaction((tx) => enqueue(tx, planReports, {}, {}))
          expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
        }
      } finally {
        await planner.stop(5000)
      }
      const rows = (table: 'operations' | 'performance_attempts') =>
        api.database.read.selectFrom(table).select('site_id').where('site_id', '=', site).execute()
      expect(await rows('operations')).toHaveLength(ordered)
      expect(await rows('performance_attempts')).toHaveLength(ordered)
    })
  })

  describe('run', () => {
    test('with both visits and their pictures, for everyone who sees the site', async () => {
      expect(await latest()).toBeNull()
      const asked: unknown[] = []
      work(async ({ url, device }) => {
        asked.push([url, device])
        return { ...measuredPage, finalDisplayedUrl: `${url}${device}` }
      })
      const operation = await order()
      expect(await ended(api.database, operation)).toMatchObject({ state: 'succeeded' })
      const address = (await findSite(api.database.read, site))?.name
      expect(asked).toEqual([
        [expect.stringContaining(`http://${address}.`), 'desktop'],
        [expect.stringContaining(`http://${address}.`), 'mobile'],
      ])
      const report = await latest()
      for (const device of ['desktop', 'mobile']) {
        const half = report[`${device}_report`]
        expect(half).toMatchObject({ performance_score: 0.98, final_url: expect.stringMatching(`/${device}$`) })
        const picture = await owner.call('GET', half.thumbnail_location)
        expect([picture.status, picture.headers['content-type'], picture.headers['x-content-type-options']]).toEqual([
          ...[200, 'image/jpeg', 'nosniff'],
        ])
      }
      const other = await newSite('other')
      const elsewhere = report.desktop_report.thumbnail_location.replace(`/sites/${site}/`, `/sites/${other}/`)
      expect((await owner.call('GET', elsewhere)).status).toBe(404)
    })

    test('200: earlier ones, newest first, with improvements; old ones without stored improvements have none', async () => {
      const { measured, opportunities } = readMeasurement(measuredPage) as Measurement
      const half = { measured, opportunities, thumbnail: null }
      await api.database.transaction(async (tx) => {
        const old = await insertReport(tx, site, { desktop: half, mobile: half }, 1000)
        const text = JSON.stringify(measured)
        await tx.updateTable('performance_reports').set({ desktop: text, mobile: text }).where('id', '=', old).execute()
        await insertReport(tx, site, { desktop: half, mobile: half }, 2000)
      })
      const { data } = (await owner.call('GET', `/v1/sites/${site}/reports/performance`)).body
      const scores = { performance_score: 0.98, accessibility_score: 1, best_practices_score: 0.79, seo_score: null }
      expect(data).toMatchObject([
        { created_at: '1970-01-01T00:00:02.000Z', desktop: { ...scores, opportunities }, mobile: scores },
        { created_at: '1970-01-01T00:00:01.000Z', desktop: { ...scores, opportunities: [] } },
      ])
      expect(await latest()).toMatchObject({ desktop_report: { performance_score: 0.98 } })
    })

    test('once at a time', async () => {
      await order()
      const { status, body } = await owner.call('POST', `/v1/sites/${site}/reports/performance`)
      expect([status, body.code]).toEqual([409, 'report_under_way'])
    })

    test('not without a browser: the operation says what the operator can do, and does not retry', async () => {
      work(async () => {
        throw new MeasureImpossible('There is no Chromium on the host: apt-get install chromium')
      })
      expect(await ended(api.database, await order())).toMatchObject({
        state: 'failed',
        isPermanent: true,
        error: 'There is no Chromium on the host: apt-get install chromium',
      })
      expect(await latest()).toBeNull()
    })

    test('not of a page that the browser could not show, nor of a site that is no longer live', async () => {
      work(async () => ({ ...measuredPage, runtimeError: { code: 'NO_FCP' } }))
      expect(await ended(api.database, await order())).toMatchObject({
        state: 'failed',
        error: 'The browser could not load the homepage',
      })
      const operation = await api.database.transaction(async (tx) => {
        await tx.updateTable('sites').set({ state: 'disabled' }).where('id', '=', site).execute()
        return enqueue(
          tx,
          makeReport,
          { siteId: site },
          { siteId: site, accountId: owner.accountId, hostId: host.hostId },
        )
      })
      expect(await ended(api.database, operation)).toMatchObject({ state: 'failed', error: 'The site is not live' })
      expect(await latest()).toBeNull()
    })

    test('not of a site in maintenance, whose visitors get another page, and without a retry', async () => {
      await api.database.transaction((tx) =>
        tx.updateTable('sites').set({ maintenance: 1 }).where('id', '=', site).execute(),
      )
      work(async () => measuredPage)
      expect(await ended(api.database, await order())).toMatchObject({
        ...{ state: 'failed', isPermanent: true, error: 'The site is in maintenance mode' },
      })
    })

    test('yield to operations that a person starts on the site, but not to those of Stead', async () => {
      const begun = Promise.withResolvers<void>()
      work(({ signal }) => {
        begun.resolve()
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      })
      const report = await order()
      await begun.promise
      const state = async () =>
        (
          await api.database.read
            .selectFrom('operations')
            .select(['cancel_requested'])
            .where('id', '=', report)
            .execute()
        )[0]
      const about = { siteId: site, accountId: owner.accountId, hostId: host.hostId }
      await api.database.transaction((tx) =>
        changeBy(tx, { actor: 'systems', about, now: 1 }).start(configureSite, { siteId: site }),
      )
      expect(await state()).toEqual({ cancel_requested: 0 })
      expect((await owner.call('POST', `/v1/sites/${site}/ondemand-backups`, { backup_type: 'db' })).status).toBe(200)
      expect(await ended(api.database, report)).toMatchObject({ state: 'canceled' })
    })

    test('keep ten of a site, and those of other sites', async () => {
      const other = await newSite('other')
      const halves = { desktop: madeMeasurement, mobile: madeMeasurement }
      const ids = await api.database.transaction(async (tx) => {
        await insertReport(tx, other, halves, 1)
        const made: number[] = []
        for (let at = 1; at <= 12; at++) made.push(await insertReport(tx, site, halves, at))
        return made
      })
      const rows = await api.database.read.selectFrom('performance_reports').select(['id', 'site_id']).execute()
      const of = (id: number) => rows.filter(({ site_id }) => site_id === id).map((row) => Number(row.id))
      expect(of(site).toSorted((a, b) => a - b)).toEqual(ids.slice(2))
      expect(of(other)).toHaveLength(1)
    })
  })
})
