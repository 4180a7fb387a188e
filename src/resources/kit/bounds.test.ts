/**
 * Tests of the limits on what an account may store. Above a limit, a request is refused or the oldest entry is deleted.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects, testDatabase } from '../../../test/support/database.ts'
import { plansOf, wholeTableReads } from '../../../test/support/plans.ts'
import type { Tx } from '../../platform/db/database.ts'
import { countMail, forgetMailCounts } from '../../platform/mail/mail-limit.ts'
import { enqueue, ROUTINE } from '../../platform/operations/enqueue.ts'
import { forgetTooMany } from '../../platform/operations/forget.ts'
import { eachOverfull, firstBeyond, forgetUpTo, nextAccount } from '../../platform/operations/newest-only.ts'
import { countQueued } from '../../platform/operations/read.ts'
import { recordActivity } from '../activity/record.ts'
import { subjectsTo } from '../collaborators/mails.fixture.ts'
import { actions as siteActions, events as siteEvents } from '../sites/actions.ts'
import { configureSite } from '../sites/switches/configure-site.job.ts'
import { foldOldDays, forgetDeletedSites } from '../statistics/forget.store.ts'
import { forgetEventsBefore } from '../webhooks/forget-events.job.ts'
import { recordEvent } from '../webhooks/record-event.ts'

const DAY_MS = 86_400_000

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`limits on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let siteId: number
    let number = 0
    beforeAll(async () => {
      api = await testApi(dialect)
    })
    afterAll(() => api.close())
    beforeEach(async () => {
      owner = await api.person(`owner-${++number}@example.com`)
      siteId = await api.site(owner, `bound-${number}`)
    })
    const write = <Result>(work: (tx: Tx) => Promise<Result>) => api.database.transaction(work)
    const mailsTo = async (address: string) => (await subjectsTo(api.database, address)).length
    const invite = (email: string, to = siteId) =>
      owner.call('POST', `/v1/sites/${to}/collaborators`, { email, roles: [] })
    const leave = async (id: number, from = siteId) =>
      expect((await owner.call('DELETE', `/v1/sites/${from}/collaborators/${id}`)).status).toBe(200)

    test('400 for the 1,001st note, and for more than 10 MB of them, and deleting frees space', async () => {
      const path = `/v1/sites/${siteId}/notes`
      const note = (index: number) => ({
        site_id: siteId,
        author: 'a',
        editor: 'a',
        subject: `${index}`,
        body: '',
        created_at: 0,
        updated_at: 0,
        size_bytes: 10_000,
      })
      await write((tx) =>
        tx
          .insertInto('notes')
          .values(Array.from({ length: 999 }, (_, index) => note(index)))
          .execute(),
      )
      const last = await owner.call('POST', path, { subject: 's', body: 'b' })
      const refused = await owner.call('POST', path, { subject: 's', body: 'b' })
      expect([last.status, refused.status, refused.body.errors[0]]).toEqual([
        200,
        400,
        expect.stringContaining('1000 notes'),
      ])
      // There are 9.99 MB, so half a megabyte is too much.
      const own = `${path}/${last.body.data.id}`
      await write((tx) =>
        tx
          .updateTable('notes')
          .set({ size_bytes: 10_490 })
          .where('site_id', '=', siteId)
          .where('subject', '!=', 's')
          .execute(),
      )
      expect((await owner.call('PUT', own, { body: 'x'.repeat(150_000) })).status).toBe(400)
      expect((await owner.call('GET', own)).body.data.body).toBe('b')
      expect((await owner.call('DELETE', own)).status).toBe(200)
      expect((await owner.call('POST', path, { subject: 's', body: '' })).status).toBe(200)
    })

    test('400 for more tags than an account may have, and adds none of the request', async () => {
      const add = (names: string[], to = siteId) => owner.call('POST', `/v1/sites/${to}/tags`, { tag_names: names })
      for (let from = 0; from < 200; from += 50)
        expect((await add(Array.from({ length: 50 }, (_, index) => `tag ${from + index}`))).status).toBe(200)
      expect((await add(['one more'])).body.errors[0]).toContain('200 of them on one site')
      await write((tx) =>
        tx
          .insertInto('tags')
          .values(Array.from({ length: 1800 }, (_, index) => ({ account_id: owner.accountId, name: `other ${index}` })))
          .execute(),
      )
      expect((await add(['one more'], await api.site(owner, `bound-${number}-b`))).status).toBe(400)
      const { length } = await api.database.read
        .selectFrom('tags')
        .select('id')
        .where('name', '=', 'one more')
        .execute()
      expect(length).toBe(0)
    })

    test('400 for the 201st collaborator', async () => {
      await write(async (tx) => {
        for (let index = 0; index < 200; index++) {
          const values = { email: `c${index}-${number}@example.com`, name: '', organization: '', phone_number: '' }
          const rest = { plan: 'Personal', default_php_version: '8.3', default_datacenter: null, created_at: 0 }
          const { id } = await tx
            .insertInto('accounts')
            .values({ ...values, ...rest })
            .returning('id')
            .executeTakeFirstOrThrow()
          await tx
            .insertInto('collaborators')
            .values({
              site_id: siteId,
              account_id: id,
              owner_account_id: owner.accountId,
              state: 'active',
              wp_username: `c${index}`,
              roles: '[]',
              created_at: 0,
              updated_at: 0,
            })
            .execute()
        }
      })
      const refused = await invite(`late-${number}@example.com`)
      expect([refused.status, refused.body.errors[0]]).toEqual([
        400,
        'email: a site can have 200 collaborators. Remove one first.',
      ])
      expect(await mailsTo(`late-${number}@example.com`)).toBe(0)
    })

    test('429 for the 101st operation that waits for one site', async () => {
      const target = { siteId, accountId: owner.accountId, hostId: 1, runAt: Date.now() + DAY_MS }
      await write(async (tx) => {
        for (let index = 0; index < 100; index++) await enqueue(tx, configureSite, { siteId }, target)
      })
      const refused = await owner.call('PUT', `/v1/sites/${siteId}`, { wp_environment_type: 'staging' })
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '30'])
      const site = await owner.call('GET', `/v1/sites/${siteId}`)
      expect(JSON.stringify(site.body.data)).toContain('"wpEnvironmentType":"production"')
      const other = await api.site(owner, `bound-${number}-free`)
      expect((await owner.call('PUT', `/v1/sites/${other}`, { wp_environment_type: 'staging' })).status).toBe(200)
    })

    test('does not mail an invitation again within the hour, and says so in the activity log', async () => {
      const email = `again-${number}@example.com`
      for (let times = 0; times < 3; times++) {
        const made = await invite(email)
        expect(made.status).toBe(200)
        await leave(made.body.data.id)
      }
      expect(await mailsTo(email)).toBe(1)
      const entries = await api.database.read
        .selectFrom('activity')
        .select('message')
        .where('account_id', '=', owner.accountId)
        .execute()
      expect(entries).toContainEqual({ message: `Sent no mail to ${email}, who got the same mail in the last hour` })
      await write((tx) =>
        tx
          .updateTable('mail_counts')
          .set({ created_at: Date.now() - 3_600_001 })
          .execute(),
      )
      expect((await invite(email)).status).toBe(200)
      expect(await mailsTo(email)).toBe(2)
    })

    test('limits mails to one address to ten an hour, and continues without a mail', async () => {
      const email = `much-${number}@example.com`
      for (let index = 0; index < 14; index++)
        expect((await invite(email, await api.site(owner, `much-${number}-${index}`))).status).toBe(200)
      expect(await mailsTo(email)).toBe(10)
      const said = await api.database.read.selectFrom('activity').select('message').execute()
      const why = `Sent no mail to ${email}, who got too many mails in the last hour`
      expect(said.filter(({ message }) => message === why)).toHaveLength(4)
      // Other accounts may still send mails, up to a limit for all together.
      const other = await api.person(`other-${number}@example.com`)
      const site = await api.site(other, `much-${number}-other`)
      await other.call('POST', `/v1/sites/${site}/collaborators`, { email, roles: [] })
      expect(await mailsTo(email)).toBe(11)
    })

    test('applies the same limit to simultaneous requests, and to all accounts together', async () => {
      const to = `crowd-${number}@example.com`
      const senders = await Promise.all([1, 2, 3, 4].map((each) => api.person(`sender-${number}-${each}@example.com`)))
      const verdicts = await Promise.all(
        Array.from({ length: 60 }, (_, index) => {
          const { accountId } = senders[index % senders.length] as Person
          return write((tx) => countMail(tx, { accountId, to, says: `${index}`, now: Date.now() }))
        }),
      )
      const sent = verdicts.map((verdict, index) => (verdict === 'send' ? index % senders.length : -1))
      expect(sent.filter((each) => each >= 0)).toHaveLength(30)
      for (const sender of senders.keys()) expect(sent.filter((each) => each === sender).length).toBeLessThanOrEqual(10)
    })

    test('429 after 200 mails of one account within an hour, and changes nothing', async () => {
      await write((tx) =>
        tx
          .insertInto('mail_counts')
          .values(
            Array.from({ length: 200 }, (_, index) => ({
              account_id: owner.accountId,
              address: `${index}@example.com`,
              subject_hash: `${index}`,
              created_at: Date.now(),
            })),
          )
          .execute(),
      )
      const email = `never-${number}@example.com`
      const refused = await invite(email)
      expect([refused.status, refused.headers['retry-after']]).toEqual([429, '600'])
      const found = await api.database.read.selectFrom('accounts').select('id').where('email', '=', email).execute()
      expect([found, await mailsTo(email)]).toEqual([[], 0])
    })

    test('keeps the newest rows of an account in each table, and unfinished operations', async () => {
      const subject = { accountId: owner.accountId, siteId, now: 1 }
      const ids: number[] = []
      await write(async (tx) => {
        for (let index = 0; index < 7; index++) {
          await recordActivity(tx, 'systems', { action: siteActions['site.updated'], message: `${index}`, ...subject })
          await recordEvent(tx, { type: siteEvents.site_created, data: {}, ...subject })
          ids.push(await enqueue(tx, configureSite, { siteId }, { ...subject, hostId: 1 }))
        }
        await tx
          .updateTable('operations')
          .set({ state: 'succeeded', finished_at: 1 })
          .where('id', 'in', ids.slice(1))
          .execute()
      })
      const left = async (table: 'activity' | 'events' | 'operations') => {
        const forget = async (accountId: number, lastId: number) => {
          while ((await write((tx) => forgetUpTo(tx, table, accountId, lastId, 2))) > 0);
        }
        await eachOverfull(api.database, table, 3, forget)
        const rows = await api.database.read
          .selectFrom(table)
          .select('id')
          .where('account_id', '=', owner.accountId)
          .execute()
        return rows.length
      }
      expect([await left('activity'), await left('events'), await left('operations')]).toEqual([3, 3, 4])
    })

    test('deletes the oldest of Stead’s own operations first, and no more than needed', async () => {
      const subject = { accountId: owner.accountId, siteId, hostId: 1 }
      const ask = (source: unknown) => write((tx) => enqueue(tx, configureSite, { siteId }, { ...subject, source }))
      const own = [await ask(undefined), await ask({ by: 'somebody' })]
      const routine: number[] = []
      for (let index = 0; index < 5; index++) routine.push(await ask(ROUTINE))
      own.push(await ask(undefined))
      const end = (ids: number[]) =>
        write((tx) =>
          tx.updateTable('operations').set({ state: 'succeeded', finished_at: 1 }).where('id', 'in', ids).execute(),
        )
      // One is in progress.
      await end([...own, ...routine.slice(1)])
      const context = { services: { database: api.database }, transaction: write, signal: AbortSignal.timeout(60_000) }
      const left = async (keep: number) => {
        await forgetTooMany(context, keep)
        const rows = await api.database.read
          .selectFrom('operations')
          .select('id')
          .where('account_id', '=', owner.accountId)
          .orderBy('id')
          .execute()
        return rows.map(({ id }) => id)
      }
      const [underWay, ...ended] = routine as [number, ...number[]]
      expect(await left(8)).toHaveLength(8)
      expect(await left(6)).toEqual([own[0], own[1], underWay, ...ended.slice(2), own[2]])
      // None of its own finished ones are left, so those that users requested go, oldest first.
      expect(await left(2)).toEqual([underWay, own[2]])
    })

    test('deletes events after their time, and merges days of page views into one row a site with the same sum', async () => {
      await write(async (tx) => {
        await tx.deleteFrom('events').execute()
        for (let index = 0; index < 5; index++)
          await recordEvent(tx, {
            type: siteEvents.site_created,
            data: {},
            accountId: owner.accountId,
            siteId,
            now: index * 10,
          })
        await tx
          .insertInto('page_view_days')
          .values([10, 11, 12, 13, 5000].map((day) => ({ site_id: siteId, day, views: day, people: 1 })))
          .execute()
      })
      let batches = 0
      while ((await write((tx) => forgetEventsBefore(tx, 25, 2))) > 0) batches++
      expect([batches, (await api.database.read.selectFrom('events').select('id').execute()).length]).toEqual([2, 2])
      while ((await write((tx) => foldOldDays(tx, 4000, 3))) > 0);
      const days = api.database.read
        .selectFrom('page_view_days')
        .selectAll()
        .where('site_id', '=', siteId)
        .orderBy('day')
      expect(await days.execute()).toEqual([
        { site_id: siteId, day: 0, views: 46, people: 4 },
        { site_id: siteId, day: 5000, views: 5000, people: 1 },
      ])
      await write((tx) => tx.updateTable('sites').set({ deleted_at: 100 }).where('id', '=', siteId).execute())
      expect(await write((tx) => forgetDeletedSites(tx, 100, 5))).toBe(0)
      expect(await write((tx) => forgetDeletedSites(tx, 101, 5))).toBe(1)
      expect(await days.execute()).toEqual([])
    })
  })

  test.skipIf(skip)(`finds rows to count and to delete by an index on ${dialect}`, async () => {
    const made = await testDatabase(dialect)
    const plans = await plansOf(made, async (tx) => {
      await countQueued(tx, 1)
      for (const table of ['activity', 'events', 'operations'] as const) {
        await firstBeyond(tx, table, 1, 5)
        await nextAccount(tx, table, 1)
      }
      await forgetDeletedSites(tx, 1, 5)
      await foldOldDays(tx, 5, 5)
      await tx.selectFrom('events').select('id').where('created_at', '<', 5).orderBy('created_at').limit(5).execute()
      await tx
        .selectFrom('mail_counts')
        .select('id')
        .where('created_at', '<', 5)
        .orderBy('created_at')
        .limit(5)
        .execute()
    })
    expect(plans.flatMap(wholeTableReads)).toEqual([])
    await made.database.transaction((tx) => forgetMailCounts(tx, 1, 1))
    await made.drop()
  })
}
