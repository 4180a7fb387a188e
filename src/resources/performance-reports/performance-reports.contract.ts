import { expect } from 'vitest'
import type { TestApi } from '../../../test/support/api.ts'
import type { Contract, JobRefusal, JobSample, ProblemCase } from '../../../test/support/contract.ts'
import { aboutSite, change, deleteSite, give, rows } from '../../../test/support/job-worlds.ts'
import { type Examples, onSite, type Sample, type World } from '../../../test/support/samples.ts'
import { siteIs } from '../../../test/support/scenes.ts'
import { MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import { madeMeasurement, withReportIn } from './performance-reports.fixture.ts'
import { insertReport, latestReport } from './report.store.ts'

const withReport = ({ database }: TestApi, siteId: number): Promise<number> =>
  database.transaction((tx) => withReportIn(tx, siteId))

/** The report that the sample's path names. */
async function withFirstReport({ site }: World, { database }: TestApi): Promise<void> {
  await database.transaction(async (tx) => {
    await tx.deleteFrom('performance_reports').execute()
    const id = await insertReport(tx, site, { desktop: madeMeasurement, mobile: madeMeasurement }, 1)
    await tx.updateTable('performance_reports').set({ id: 1 }).where('id', '=', id).execute()
  })
}

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'getLatestPerformanceReport', path: onSite('/reports/performance/latest'), roles: [] },
  { endpoint: 'listPerformanceReports', path: onSite('/reports/performance'), roles: [] },
  { endpoint: 'orderPerformanceReport', path: onSite('/reports/performance'), roles: ['manage_performance'] },
  { endpoint: 'getPerformanceReportThumbnail', path: onSite('/reports/performance/1/thumbnails/desktop'), roles: [], prepare: withFirstReport },
]

const examples: Examples = {
  listPerformanceReports: async ({ api, siteId }) => {
    await withReport(api, siteId)
    return {}
  },
  getLatestPerformanceReport: async ({ api, siteId }) => {
    await withReport(api, siteId)
    return {}
  },
  getPerformanceReportThumbnail: async ({ api, siteId }) => ({
    params: { report_id: await withReport(api, siteId), device: 'mobile' },
  }),
}

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['orderPerformanceReport'], code: 'report_under_way', prepare: async ({ owner, siteId }, { tour }) => { tour.leaveWork(siteId); await owner.call('POST', `/v1/sites/${siteId}/reports/performance`) } },
  { of: ['orderPerformanceReport'], code: 'site_not_live', prepare: siteIs({ state: 'deploying' }) },
]

const causes: Contract['causes'] = {
  performance_report_created: { cause: 'site.make_performance_report' },
}

const jobs: Record<string, JobSample> = {
  'site.make_performance_report': {
    prepare: async (world) => aboutSite(world),
    async done(world) {
      expect((await latestReport(world.api.database.read, world.site))?.hasThumbnail.mobile).toBe(true)
      expect(await rows(world, 'events', 'type', 'performance_report_created', world.site)).toBe(1)
      expect(await rows(world, 'activity', 'action', 'performance_report.screenshot', world.site)).toBe(1)
    },
  },

  'performance.plan_reports': {
    async prepare(world) {
      const { host, site } = world
      await change(world, async (tx) => {
        await tx.updateTable('sites').set({ host_id: null }).where('id', '<>', site).execute()
        await tx.updateTable('sites').set({ host_id: host.hostId }).where('id', '=', site).execute()
        await tx.updateTable('hosts').set({ facts: '{"canMeasurePages":true}' }).execute()
      })
      return { input: {}, options: { siteId: null, hostId: null } }
    },
    async done(world) {
      expect(await rows(world, 'operations', 'type', 'site.make_performance_report', world.site)).toBe(1)
    },
  },
}

// biome-ignore format: a table
const jobRefusals: readonly JobRefusal[] = [
  { type: 'site.make_performance_report', says: 'The site is not live', wrong: (world) => change(world, (tx) => tx.updateTable('sites').set({ state: 'disabled' }).where('id', '=', world.site).execute()) },
  { type: 'site.make_performance_report', says: 'The site is not live', wrong: (world) => deleteSite(world) },
  { type: 'site.make_performance_report', says: 'The site is in maintenance mode', wrong: (world) => change(world, (tx) => tx.updateTable('sites').set({ maintenance: 1 }).where('id', '=', world.site).execute()) },
  { type: 'site.make_performance_report', says: 'no browser here', wrong: (world) => give(world, { measurePage: async () => { throw new MeasureImpossible('no browser here') } }) },
]

export const contract: Contract = { samples, examples, problems, causes, jobs, jobRefusals }
