import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { everyPage, type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { addUptime } from '../../edge/monitor/monitor.store.ts'
import { MeasureImpossible } from '../../hosting/page-measure/measure-page.ts'
import type { PrintPage } from '../../hosting/page-measure/print-page.ts'
import type { Tx } from '../../platform/db/database.ts'
import { DAY_MS, HOUR_MS } from '../../platform/durations.ts'
import { countMail } from '../../platform/mail/mail-limit.ts'
import { type Mailer, type MailMessage, MailRefused } from '../../platform/mail/mailer.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import { insertBackup } from '../backups/backup.store.ts'
import { changeBranding } from '../branding/branding.store.ts'
import { madeMeasurement } from '../performance-reports/performance-reports.fixture.ts'
import { insertReport } from '../performance-reports/report.store.ts'
import { withUpdate } from '../safe-updates/safe-updates.fixture.ts'
import { findSite, type Site } from '../sites/public.ts'
import { storeReport } from './client-report.store.ts'
import { storeReports } from './close-month.job.ts'
import type { ReportContents } from './contents.ts'
import { countDay } from './day-counts.store.ts'
import { monthsOnOffer } from './gather-report.ts'
import { mailClientReport } from './mail/mail-client-report.job.ts'
import { requestMails } from './mail/plan-mails.job.ts'
import { noteMail } from './mail/recipients.store.ts'
import { monthName, monthNamed, monthOf, spanOf, startOfMonth } from './month.ts'

const OCTOBER = startOfMonth(monthNamed('2026-10'))
const day = (date: number) => OCTOBER + (date - 1) * DAY_MS
const dayNumber = (date: number) => day(date) / DAY_MS

describe('months', () => {
  it('have names, and begin and end in UTC', () => {
    for (const name of ['2026-01', '2026-12', '0001-02', '9999-12']) expect(monthName(monthNamed(name))).toBe(name)
    expect(monthOf(Date.parse('2026-12-31T23:59:59.999Z'))).toBe(monthNamed('2026-12'))
    const { from, to, lastDay, firstDay } = spanOf(monthNamed('2024-02'), Date.parse('2026-01-01'))
    expect([new Date(from).toISOString(), new Date(to).toISOString()]).toEqual([
      '2024-02-01T00:00:00.000Z',
      '2024-03-01T00:00:00.000Z',
    ])
    expect(lastDay - firstDay + 1).toBe(29)
  })

  it('end at the current moment while they last', () => {
    const { to, firstDay, lastDay } = spanOf(monthNamed('2026-10'), day(3) + HOUR_MS)
    expect([to, lastDay - firstDay + 1]).toEqual([day(3) + HOUR_MS, 3])
    expect(spanOf(monthNamed('2026-10'), OCTOBER).lastDay).toBe(dayNumber(1))
  })
})

describe.each(dialects)('client reports on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  let now: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    now = OCTOBER + 34 * DAY_MS
    api = await testApi(dialect, { now: () => now })
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'client')
    await write((tx) =>
      tx
        .updateTable('sites')
        .set({ created_at: OCTOBER - 90 * DAY_MS })
        .execute(),
    )
  })
  afterEach(() => api?.close())

  const write = (work: (tx: Tx) => Promise<unknown>) => api.database.transaction(work)
  const get = async (month: string, rest = '') =>
    owner.call('GET', `/v1/sites/${siteId}/client-reports/${month}${rest}`)
  const report = async (month = '2026-10'): Promise<ReportContents> => (await get(month)).body.data
  const months = async () =>
    (await owner.call('GET', `/v1/sites/${siteId}/client-reports`)).body.data.map(
      (each: { month: string }) => each.month,
    )

  const backup = (kind: 'fs' | 'db', at: number, origin: 'scheduled' | 'undo' = 'scheduled') =>
    write(async (tx) => {
      const { id } = await insertBackup(tx, { siteId, kind, origin, createdBy: null, deleteAt: 1, now: 1 })
      await tx.updateTable('backups').set({ state: 'completed', completed_at: at }).where('id', '=', id).execute()
    })
  const logged = (action: string, message: string, at: number) =>
    write((tx) =>
      tx
        .insertInto('activity')
        .values({
          ...{ account_id: owner.accountId, site_id: siteId, action, message, description: '', source: 'systems' },
          ...{ actor_email: null, ip_address: null, user_agent: '', created_at: at },
        })
        .execute(),
    )
  const proved = (state: 'succeeded' | 'failed', result: object, at: number) =>
    write(async (tx) => {
      const { proveBackups } = await import('../backups/schedule/prove-backups.job.ts')
      const id = await enqueue(tx, proveBackups, { siteId }, { siteId, accountId: owner.accountId, hostId: 1 })
      const text = JSON.stringify(result)
      await tx.updateTable('operation_steps').set({ result: text }).where('operation_id', '=', id).execute()
      await tx.updateTable('operations').set({ state, finished_at: at }).where('id', '=', id).execute()
    })

  it('says what has no data, and shows no zeros instead', async () => {
    const found = await report()
    expect(found).toMatchObject({ month: '2026-10', state: 'complete', site_name: expect.any(String) })
    for (const part of ['uptime', 'updates', 'backups', 'visits', 'performance'] as const)
      expect(found[part], part).toBeNull()
    const page = String((await get('2026-10', '/html')).body)
    for (const line of [
      'the site was not monitored',
      'updates were not counted',
      'no visits were counted',
      'the speed was not measured',
    ])
      expect(page).toContain(line)
    expect(page).not.toMatch(/>0</)
  })

  it('counts uptime, incidents, and visits of the month only', async () => {
    await write(async (tx) => {
      const asked = { site_id: siteId, asked: 1000, slow: 0 }
      await addUptime(tx, [
        { ...asked, day: dayNumber(0), failed: 1000 },
        { ...asked, day: dayNumber(1), failed: 0 },
        { ...asked, day: dayNumber(31), failed: 1 },
        { ...asked, day: dayNumber(32), failed: 1000 },
      ])
      const down = { site_id: siteId, reason: 'status', detail: 'The front page answers 502' } as const
      const incident = (began: number, ended: number) => ({ ...down, began_at: began, ended_at: ended })
      await tx
        .insertInto('site_incidents')
        .values([
          incident(day(1) - 2 * HOUR_MS, day(1) - HOUR_MS),
          incident(day(1) - HOUR_MS, day(1) + 60_000),
          incident(day(9), day(9) + 120_000),
          incident(day(32), day(33)),
        ])
        .execute()
      const views = (date: number, people: number) => ({
        site_id: siteId,
        day: dayNumber(date),
        people,
        views: people * 2,
      })
      await tx
        .insertInto('page_view_days')
        .values([views(0, 10), views(1, 20), views(31, 2), views(32, 1000)])
        .execute()
    })
    const { uptime, visits } = await report()
    expect(uptime).toMatchObject({ percent: 99.95, incidents: 2, down_minutes: 3 })
    expect([uptime?.days.length, uptime?.days[0], uptime?.days[1], uptime?.days[30]]).toEqual([31, 100, null, 99.9])
    expect(visits).toMatchObject({ visits: 22, views: 44, visits_before: 10, views_before: 20 })
    expect([visits?.days[0], visits?.days[1]]).toEqual([40, 0])
  })

  it('keeps what is deleted before the month ends, and counts nothing twice', async () => {
    await backup('fs', day(1) + HOUR_MS)
    await backup('db', day(1) + 2 * HOUR_MS)
    await backup('db', day(1) + 2 * HOUR_MS, 'undo')
    await logged('plugin.updated', 'Updated forms from 1.0 to 1.1', day(1) + HOUR_MS)
    await proved('succeeded', { files: 1, database: 2 }, day(1) + HOUR_MS)
    await proved('succeeded', { unproved: 'the disk is full' }, day(1) + HOUR_MS)
    await proved('failed', {}, day(1) + HOUR_MS)
    for (let date = 1; date <= 30; date++) await write((tx) => countDay(tx, dayNumber(date)))
    await write(async (tx) => {
      await tx.deleteFrom('backups').execute()
      await tx.deleteFrom('operations').execute()
      await tx.deleteFrom('activity').execute()
    })
    await backup('fs', day(31) + HOUR_MS)
    await logged('wordpress.version_failed', 'It could not be updated', day(31) + HOUR_MS)
    await write((tx) => withUpdate(tx, siteId, 777, day(9)))
    const { backups, updates } = await report()
    expect(backups).toEqual({ files: 2, databases: 1, proven: 1, not_proven: 1, counted_since: '2026-10-01' })
    expect(updates).toMatchObject({ done: 1, undone: 1, failed: 1 })
    expect(updates?.list.map(({ text, outcome }) => [outcome, text])).toEqual([
      ['done', 'Updated forms from 1.0 to 1.1'],
      ['undone', 'Tried forms 2.0, found a fault, and went back to 1.0'],
      ['failed', 'It could not be updated'],
    ])
    // A second count of a day changes nothing.
    await write((tx) => countDay(tx, dayNumber(1)))
    expect((await report()).backups).toMatchObject({ files: 2 })
  })

  it('says since when it counts', async () => {
    await write((tx) => countDay(tx, dayNumber(20)))
    expect((await report()).backups).toMatchObject({ files: 0, counted_since: '2026-10-20' })
    expect(String((await get('2026-10', '/html')).body)).toContain('Counted since 20 October 2026.')
  })

  it('compares the speed with that of the report before', async () => {
    const measure = (share: number, at: number) => {
      const half = { ...madeMeasurement, measured: { ...madeMeasurement.measured, performance_score: share } }
      return write((tx) => insertReport(tx, siteId, { desktop: half, mobile: madeMeasurement }, at))
    }
    await measure(0.7, OCTOBER - DAY_MS)
    await measure(0.8, day(2))
    await measure(0.905, day(30))
    await measure(1, day(32))
    const { performance } = await report()
    expect(performance).toMatchObject({ now: { desktop: 91, mobile: null }, before: { desktop: 80 } })
    await write(async (tx) => {
      const before = {
        ...(await report()),
        performance: { now: { at: '2026-09-30T00:00:00.000Z', desktop: 64, mobile: 50 }, before: null },
      }
      const values = { site_id: siteId, month: monthNamed('2026-09'), contents: JSON.stringify(before), created_at: 1 }
      await tx.insertInto('client_reports').values(values).execute()
    })
    expect((await report()).performance?.before).toMatchObject({ desktop: 64, mobile: 50 })
  })

  it('offers this month, the last one, and those that are stored', async () => {
    expect(await months()).toEqual(['2026-11', '2026-10'])
    expect((await report('2026-11')).state).toBe('so_far')
    for (const month of ['2026-12', '2026-09', '0000-01', '2026-13', '2026-1', 'x', '2026-10x'])
      expect((await get(month)).status, month).toBe(404)
    await write((tx) =>
      tx
        .updateTable('sites')
        .set({ created_at: day(32) })
        .execute(),
    )
    expect(await months()).toEqual(['2026-11'])
    expect((await get('2026-10')).status).toBe(404)
  })

  it('stores the report of a month four hours after it, once, and shows it from then on', async () => {
    const services = { database: api.database, config: api.config }
    const close = async (at: number) => {
      const context = { services, now: () => at, signal: new AbortController().signal, transaction: write }
      await storeReports(context as unknown as Parameters<typeof storeReports>[0])
      return api.database.read.selectFrom('client_reports').select(['month', 'created_at']).execute()
    }
    expect(await close(day(32) + 4 * HOUR_MS - 1)).toEqual([])
    const stored = [{ month: monthNamed('2026-10'), created_at: day(32) + 4 * HOUR_MS }]
    expect(await close(day(32) + 4 * HOUR_MS)).toEqual(stored)
    await write((tx) => countDay(tx, dayNumber(20)))
    expect(await close(day(33))).toEqual(stored)
    expect((await report()).backups).toBeNull()
    // A second control that found it missing, too.
    const other = { ...(await report()), site_name: 'Other' }
    await write((tx) => storeReport(tx, { siteId, month: monthNamed('2026-10'), contents: other, now: 1 }))
    expect((await report()).site_name).not.toBe('Other')
    const site = (await findSite(api.database.read, siteId)) as Site
    const later = await monthsOnOffer(api.database.read, site, day(140))
    expect(later.map(monthName)).toEqual(['2027-02', '2027-01', '2026-10'])
    expect((await report()).as_of).toBe('2026-11-01')
  })

  it('escapes what sites and accounts are called, and loads nothing', async () => {
    await write(async (tx) => {
      await tx.updateTable('sites').set({ display_name: '<script>alert(1)</script>' }).execute()
      await changeBranding(tx, owner.accountId, { name: '"><img src=x onerror=1>', color: '#ffff00' }, 1)
    })
    await logged('plugin.updated', '<b onmouseover=alert(1)>', day(9))
    await write((tx) => countDay(tx, dayNumber(9)))
    const { body, headers } = await get('2026-10', '/html')
    const page = String(body)
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
    expect(page).not.toMatch(/<script|<img|<b onmouseover|<[^>]* (src|href)=|url\(|@import/)
    expect(page).toContain('--accent:#ffff00;--on-accent:#111318')
    expect(headers['content-security-policy']).toMatch(/^sandbox; default-src 'none'/)
    expect(headers['x-content-type-options']).toBe('nosniff')
  })

  describe('by mail', () => {
    const settings = `/client-report-settings`
    const put = async (recipients: string[]) => owner.call('PUT', `/v1/sites/${siteId}${settings}`, { recipients })
    const shown = async () => (await owner.call('GET', `/v1/sites/${siteId}${settings}`)).body.data
    const inNovember = day(32) + 5 * HOUR_MS
    const run = async (at: number) => {
      const services = { database: api.database, config: api.config }
      const context = { services, now: () => at, signal: new AbortController().signal, transaction: write }
      await storeReports(context as unknown as Parameters<typeof storeReports>[0])
      await requestMails(context as unknown as Parameters<typeof requestMails>[0])
      const rows = await api.database.read
        .selectFrom('operations')
        .select('input')
        .where('type', '=', 'client_reports.mail')
        .orderBy('id')
        .execute()
      return rows.map(({ input }) => {
        const { month, to } = JSON.parse(input)
        return `${monthName(month)} ${to}`
      })
    }
    /** Recipients since before the month ended. */
    const subscribe = async (recipients: string[]) => {
      now = day(20)
      expect((await put(recipients)).status).toBe(200)
      now = inNovember
    }

    it('goes to each recipient once, in order, when the month has ended', async () => {
      await subscribe(['B@example.com', 'a@example.com', 'b@example.com'])
      expect((await shown()).recipients).toEqual(['b@example.com', 'a@example.com'])
      expect(await run(day(32) + 4 * HOUR_MS - 1)).toEqual([])
      const both = ['2026-10 b@example.com', '2026-10 a@example.com']
      expect(await run(inNovember)).toEqual(both)
      expect(await run(inNovember + HOUR_MS)).toEqual(both)
      expect((await shown()).mails).toMatchObject([
        { month: '2026-10', recipient: 'a@example.com', sent_at: null, fault: null },
        { month: '2026-10', recipient: 'b@example.com' },
      ])
    })

    it('is requested once by two controls at the same time', async () => {
      await subscribe(['a@example.com'])
      const [one, other] = await Promise.all([run(inNovember), run(inNovember)])
      expect([one, other].some((each) => each.length > 1)).toBe(false)
      expect(await run(inNovember)).toEqual(['2026-10 a@example.com'])
    })

    it('is requested by the next run, after one that died before its commit', async () => {
      await subscribe(['a@example.com'])
      await expect(
        write(async (tx) => {
          await noteMail(tx, { siteId, month: monthNamed('2026-10'), address: 'a@example.com', now: 1 })
          throw new Error('died')
        }),
      ).rejects.toThrow('died')
      expect(await run(inNovember)).toEqual(['2026-10 a@example.com'])
    })

    it('is sent up to seven days late, and not later', async () => {
      await subscribe(['a@example.com'])
      expect(await run(day(39))).toEqual([])
      expect(await run(day(39) - 1)).toEqual(['2026-10 a@example.com'])
    })

    it('sends new recipients no report of a month that had ended', async () => {
      now = inNovember
      await put(['a@example.com'])
      expect(await run(inNovember)).toEqual([])
      await put([])
      await put(['b@example.com'])
      expect(await run(inNovember)).toEqual([])
      expect(await run(day(62) + 5 * HOUR_MS)).toEqual(['2026-11 b@example.com'])
    })

    it('leaves out a suspended account, and a site that is not live', async () => {
      await subscribe(['a@example.com'])
      const suspend = (at: number | null) =>
        write((tx) => tx.updateTable('accounts').set({ suspended_at: at }).where('id', '=', owner.accountId).execute())
      await suspend(1)
      expect(await run(inNovember)).toEqual([])
      await suspend(null)
      await write((tx) => tx.updateTable('sites').set({ state: 'disabled' }).execute())
      expect(await run(inNovember)).toEqual([])
      await write((tx) => tx.updateTable('sites').set({ state: 'live' }).execute())
      expect(await run(inNovember)).toEqual(['2026-10 a@example.com'])
    })

    it('holds back what a limit of mails refuses, and requests it later', async () => {
      await subscribe(['a@example.com', 'b@example.com'])
      await write(async (tx) => {
        for (let count = 0; count < 10; count++) {
          const mail = { accountId: owner.accountId, to: 'a@example.com', says: `${count}`, now: inNovember }
          await countMail(tx, mail)
        }
      })
      expect(await run(inNovember + 1)).toEqual(['2026-10 b@example.com'])
      expect(await run(inNovember + HOUR_MS + 1)).toEqual(['2026-10 b@example.com', '2026-10 a@example.com'])
    })

    it('refuses addresses that are none, and more than ten', async () => {
      expect((await put(['a@example.com', 'nobody'])).body.errors).toEqual(['recipients.1: must be a valid email'])
      expect((await put(['a@example.com\nBcc: b@example.com'])).status).toBe(400)
      expect((await put(Array.from({ length: 11 }, (_, index) => `a${index}@example.com`))).status).toBe(400)
      expect((await shown()).recipients).toEqual([])
      expect((await put(Array.from({ length: 10 }, (_, index) => `a${index}@example.com`))).status).toBe(200)
    })

    const send = async (given: { printPage?: PrintPage; mailer?: Partial<Mailer> } = {}) => {
      const sent: MailMessage[] = []
      const deliver: Mailer['deliver'] = async (message) => {
        sent.push(message)
        return 'sent'
      }
      const services = {
        ...{ database: api.database, config: api.config, printPage: given.printPage ?? everyPage },
        mailer: { deliver, close() {}, ...given.mailer },
      }
      const worker = startWorker(api.database, [mailClientReport], { services })
      const ids = await api.database.read
        .selectFrom('operations')
        .select('id')
        .where('type', '=', 'client_reports.mail')
        .execute()
      const operations = []
      for (const { id } of ids) operations.push(await ended(api.database, Number(id)))
      await worker.stop(1000)
      return { sent, states: operations.map(({ state }) => state) }
    }

    it('carries the PDF, the name of the agency, and its address for replies, and no link', async () => {
      await subscribe(['a@example.com'])
      const look = { name: 'Northlight', reply_to: 'hello@northlight.example' }
      await write((tx) => changeBranding(tx, owner.accountId, look, 1))
      await run(inNovember)
      const { sent, states } = await send()
      expect(states).toEqual(['succeeded'])
      const [mail] = sent
      expect(mail).toMatchObject({ to: 'a@example.com', senderName: 'Northlight', replyTo: look.reply_to })
      expect(mail?.attachment).toMatchObject({ name: 'report-2026-10-client.pdf', type: 'application/pdf' })
      expect(`${mail?.text}${mail?.html}`).not.toMatch(/https?:|href/)
      expect((await shown()).mails).toMatchObject([{ sent_at: expect.any(String), fault: null }])
      const log = (await owner.call('POST', `/v1/sites/${siteId}/logs/activity`, {})).body.data
      expect(log.map(({ message }: { message: string }) => message)).toContain(
        'Sent the report of October 2026 to a@example.com',
      )
    })

    it('carries HTML where no browser can print it', async () => {
      await subscribe(['a@example.com'])
      await run(inNovember)
      const printPage: PrintPage = async () => {
        throw new MeasureImpossible('no Chromium')
      }
      const { sent } = await send({ printPage })
      expect(sent[0]?.attachment).toMatchObject({ name: 'report-2026-10-client.html', type: 'text/html' })
      expect(String(sent[0]?.attachment?.content)).toContain('<!doctype html>')
    })

    it('reaches nobody who is no longer a recipient', async () => {
      await subscribe(['a@example.com', 'b@example.com'])
      await run(inNovember)
      await put(['b@example.com'])
      const { sent, states } = await send()
      expect([sent.map(({ to }) => to), states]).toEqual([['b@example.com'], ['succeeded', 'succeeded']])
      expect((await shown()).mails).toMatchObject([{ fault: 'The address is no longer a recipient' }, { fault: null }])
    })

    it('says if the mail server refuses it', async () => {
      await subscribe(['a@example.com'])
      await run(inNovember)
      const deliver = async () => {
        throw new MailRefused('no such mailbox')
      }
      expect((await send({ mailer: { deliver } })).states).toEqual(['failed'])
      expect((await shown()).mails).toMatchObject([{ sent_at: null, fault: 'The mail server did not accept it' }])
    })
  })

  it('says why there is no PDF, and keeps printing', async () => {
    const pdf = await get('2026-10', '/pdf')
    expect([pdf.status, pdf.headers['content-type'], pdf.headers['content-disposition']]).toEqual([
      200,
      'application/pdf',
      'attachment; filename="report-2026-10-client.pdf"',
    ])
    await write((tx) => tx.updateTable('sites').set({ display_name: 'no browser here' }).execute())
    const refused = await get('2026-10', '/pdf')
    expect([refused.status, refused.body.code]).toEqual([503, 'pdf_not_possible'])
    expect(refused.body.errors[0]).toContain('There is no browser')
  })
})
