import { expect } from 'vitest'
import type { Contract, JobSample, JobWorld, ProblemCase } from '../../../test/support/contract.ts'
import { change, rows } from '../../../test/support/job-worlds.ts'
import { type Examples, onSite, type Sample, type Scene, unique, type World } from '../../../test/support/samples.ts'
import { write } from '../../../test/support/scenes.ts'
import { DAY_MS } from '../../platform/durations.ts'
import { dayOf } from '../../platform/log-store/days.ts'
import { insertBackup } from '../backups/backup.store.ts'
import { storeReport } from './client-report.store.ts'
import { closedMonth } from './close-month.job.ts'
import type { ReportContents } from './contents.ts'
import { LATE_MS } from './mail/plan-mails.job.ts'
import { noteMail, setRecipients } from './mail/recipients.store.ts'
import { monthName, monthOf, startOfMonth } from './month.ts'

const thisMonth = () => monthName(monthOf(Date.now()))

const ofMonth = (rest: string) => (world: World) => onSite(`/client-reports/${thisMonth()}${rest}`)(world)

// biome-ignore format: a table
const samples: readonly Sample[] = [
  { endpoint: 'listClientReports', path: onSite('/client-reports'), roles: [] },
  { endpoint: 'getClientReport', path: ofMonth(''), roles: [] },
  { endpoint: 'getClientReportPage', path: ofMonth('/html'), roles: [] },
  { endpoint: 'getClientReportPdf', path: ofMonth('/pdf'), roles: [] },
  { endpoint: 'getClientReportSettings', path: onSite('/client-report-settings'), roles: ['manage_performance'] },
  { endpoint: 'updateClientReportSettings', path: onSite('/client-report-settings'), body: () => ({ recipients: [`client-${unique()}@example.com`] }), roles: ['manage_performance'] },
]

const ofThisMonth = () => ({ params: { month: thisMonth() } })
const examples: Examples = {
  getClientReport: ofThisMonth,
  getClientReportPage: ofThisMonth,
  getClientReportPdf: ofThisMonth,
  getClientReportSettings: async ({ owner, siteId }) => {
    await owner.call('PUT', `/v1/sites/${siteId}/client-report-settings`, { recipients: ['client@example.com'] })
    return {}
  },
  updateClientReportSettings: () => ({ body: { recipients: ['client@example.com', 'other@example.com'] } }),
}

/** The printer of tests knows these names. */
const isCalled = (name: string) => (scene: Scene) =>
  write(scene, (tx) => tx.updateTable('sites').set({ display_name: name }).where('id', '=', scene.siteId).execute())

// biome-ignore format: a table
const problems: readonly ProblemCase[] = [
  { of: ['getClientReportPdf'], code: 'pdf_not_possible', prepare: isCalled('no browser here') },
  { of: ['getClientReportPdf'], code: 'too_many_prints', prepare: isCalled('a busy browser') },
]

const causes: Contract['causes'] = {
  client_report_sent: { cause: 'client_reports.mail' },
}

const contents = (month: number): ReportContents => ({
  ...{ month: monthName(month), state: 'complete', as_of: '2026-11-01' },
  ...{ site_name: 'Site', address: 'site.example.com' },
  ...{ uptime: null, updates: null, backups: null, visits: null, performance: null },
  domains: { domains: 0, certificates: 0, missing: 0, valid_until: null },
})

/** Stores the report of the last month, which one person is to get. */
async function withReport(world: JobWorld): Promise<number> {
  const { site: siteId } = world
  const month = monthOf(Date.now()) - 1
  await change(world, async (tx) => {
    await tx.deleteFrom('client_report_settings').execute()
    await storeReport(tx, { siteId, month, contents: contents(month), now: 1 })
    await setRecipients(tx, siteId, { recipients: ['client@example.com'], lastMonth: month - 1, now: 1 })
  })
  return month
}

const yesterday = () => (dayOf(Date.now()) - 1) * DAY_MS + 1000

const jobs: Record<string, JobSample> = {
  'client_reports.count_days': {
    async prepare(world) {
      const { site: siteId } = world
      await change(world, async (tx) => {
        await tx.deleteFrom('client_report_clock').execute()
        const backup = { siteId, kind: 'fs', origin: 'scheduled', createdBy: null, deleteAt: 1, now: 1 } as const
        const { id } = await insertBackup(tx, backup)
        const done = { state: 'completed', completed_at: yesterday() } as const
        await tx.updateTable('backups').set(done).where('id', '=', id).execute()
        const old = { site_id: siteId, day: 1, files: 1, databases: 0, proven: 0, not_proven: 0, changes: '[]' }
        await tx.insertInto('client_report_days').values(old).execute()
      })
      return { input: {} }
    },
    async done({ api, site }) {
      const days = api.database.read.selectFrom('client_report_days').selectAll().where('site_id', '=', site)
      expect(await days.execute()).toMatchObject([{ day: dayOf(Date.now()) - 1, files: 1 }])
      const clock = await api.database.read.selectFrom('client_report_clock').selectAll().execute()
      expect(clock).toMatchObject([{ last_day: dayOf(Date.now()) - 1 }])
    },
  },

  'client_reports.close_month': {
    async prepare(world) {
      await change(world, async (tx) => {
        await tx.updateTable('sites').set({ created_at: 1 }).where('id', '=', world.site).execute()
        const old = { site_id: world.site, month: 1, contents: '{}', created_at: 1 }
        await tx.insertInto('client_reports').values(old).execute()
      })
      return { input: {} }
    },
    async done({ api, site }) {
      const reports = api.database.read.selectFrom('client_reports').select('month').where('site_id', '=', site)
      const closed = closedMonth(Date.now())
      expect(await reports.execute()).toEqual(closed === undefined ? [] : [{ month: closed }])
    },
  },

  'client_reports.plan_mails': {
    async prepare(world) {
      await withReport(world)
      return { input: {} }
    },
    async done(world) {
      const { api, site, owner } = world
      const mails = api.database.read.selectFrom('client_report_mails').select('address').where('site_id', '=', site)
      const operations = api.database.read
        .selectFrom('operations')
        .select('id')
        .where('type', '=', 'client_reports.mail')
        .where('account_id', '=', owner.accountId)
      const [now, closed] = [Date.now(), closedMonth(Date.now())]
      const isTime = closed !== undefined && now < startOfMonth(closed + 1) + LATE_MS
      expect([(await mails.execute()).length, (await operations.execute()).length]).toEqual(isTime ? [1, 1] : [0, 0])
    },
  },

  'client_reports.mail': {
    async prepare(world) {
      const month = await withReport(world)
      await change(world, (tx) => noteMail(tx, { siteId: world.site, month, address: 'client@example.com', now: 1 }))
      const input = { siteId: world.site, month, to: 'client@example.com', key: 'key', writtenAt: 1 }
      return { input, options: { siteId: null } }
    },
    async done(world) {
      const mails = await world.api.database.read
        .selectFrom('client_report_mails')
        .select(['sent_at', 'fault'])
        .where('site_id', '=', world.site)
        .execute()
      expect(mails).toEqual([{ sent_at: expect.any(Number), fault: null }])
      expect(world.mails.size).toBe(1)
      expect(await rows(world, 'activity', 'action', 'client_report.sent', world.site)).toBe(1)
      expect(await rows(world, 'events', 'type', 'client_report_sent', world.site)).toBe(1)
    },
  },
}

export const contract: Contract = { samples, examples, problems, causes, jobs }
