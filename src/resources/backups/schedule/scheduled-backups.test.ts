import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { type FakeHost, fakeHost } from '../../../../test/support/fake-host.ts'
import { PermanentFailure } from '../../../platform/operations/definition.ts'
import { enqueue, ROUTINE } from '../../../platform/operations/enqueue.ts'
import { ended, startWorker, until } from '../../../platform/operations/harness.ts'
import type { Worker } from '../../../platform/operations/worker/worker.ts'
import { purgeSite } from '../../sites/remove/remove-site.job.ts'
import { markDeleted } from '../../sites/site.store.ts'
import { findBackup, insertBackup, markFailed } from '../backup.store.ts'
import { type BackupKind, type Origin, siteOwner } from '../backup.ts'
import { deletedByControl, nameIn } from '../backups.fixture.ts'
import { type FakeContent, fakeContent } from '../content.fixture.ts'
import { takeScheduledBackup } from '../take/take-backup.job.ts'
import { nextTurn, offsetOf, rhythms } from './backup-times.ts'
import { expireBackups } from './expire-backups.job.ts'
import { forgetBackupsJob } from './forget-backups.job.ts'
import { planBackups } from './plan-backups.job.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

describe('a site’s turn', () => {
  test('is spread over a thousand sites: no minute of the hour or of the night gets more than twice its share', () => {
    for (const [rhythm, minutes] of [
      ['database', 60],
      ['files', 360],
      ['proof', 10_080],
    ] as const) {
      const counts = new Map<number, number>()
      for (let siteId = 1; siteId <= 1000; siteId++) {
        const minute = Math.floor(offsetOf(siteId, rhythm) / MINUTE_MS)
        counts.set(minute, (counts.get(minute) ?? 0) + 1)
        expect(minute).toBeLessThan(minutes)
      }
      expect(Math.max(...counts.values())).toBeLessThanOrEqual(Math.ceil((2 * 1000) / minutes))
    }
  })

  test('is after now, within one period, and at the same time of the next one', () => {
    const now = Date.parse('2026-05-06T12:34:56.789Z')
    for (const siteId of [1, 2, 77, 123_456_789])
      for (const rhythm of ['files', 'database', 'proof'] as const) {
        const turn = nextTurn(siteId, rhythm, now)
        const { everyMs } = rhythms[rhythm]
        expect(turn).toBeGreaterThan(now)
        expect(turn).toBeLessThanOrEqual(now + everyMs)
        expect(nextTurn(siteId, rhythm, turn)).toBe(turn + everyMs)
      }
    // At night.
    expect(new Date(nextTurn(77, 'files', now)).getUTCHours()).toBeLessThan(6)
  })
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`scheduled backups on ${dialect}`, () => {
    let api: TestApi
    let host: FakeHost
    let owner: Person
    let content: FakeContent
    let now: number
    const workers: Worker[] = []

    beforeEach(async () => {
      now = Date.parse('2026-05-06T12:00:00Z')
      api = await testApi(dialect, { now: () => now })
      host = await fakeHost(api)
      owner = await api.person('owner@example.com')
      content = fakeContent()
    })
    afterEach(async () => {
      await Promise.all(workers.splice(0).map((worker) => worker.stop(0)))
      await host.close()
      await api.close()
    })

    const clock = () => now
    const startControl = (scheduledBackups = true) => {
      const { database, backups } = api
      const services = { database, backups, config: { scheduledBackups } }
      workers.push(startWorker(database, [planBackups, forgetBackupsJob], { services, clock }))
    }
    const startHost = () => {
      const { siteFiles, siteDatabase } = content
      const services = { ...host.services, siteFiles, siteDatabase }
      const definitions = [takeScheduledBackup, expireBackups, purgeSite].map((each) => ({ ...each, attempts: 1 }))
      workers.push(startWorker(api.database, definitions, { runner: 'host', hostId: host.hostId, services, clock }))
    }
    const live = async (name: string) => {
      const site = await api.site(owner, name)
      await host.giveDirectory(site)
      return site
    }
    const plan = async () => {
      const id = await api.database.transaction((tx) => enqueue(tx, planBackups, {}))
      expect(await ended(api.database, id)).toMatchObject({ state: 'succeeded' })
    }
    const operations = (type: string) =>
      api.database.read.selectFrom('operations').selectAll().where('type', '=', type).orderBy('id').execute()
    const allEnded = (type: string) =>
      until(async () => (await operations(type)).every(({ finished_at }) => finished_at !== null))
    const rows = async () =>
      (await api.database.read.selectFrom('backups').selectAll().orderBy('id').execute()).map(
        ({ site_id, kind, origin, state }) => [site_id, kind, origin, state],
      )
    const dueOf = (siteId: number) =>
      api.database.read.selectFrom('backup_schedules').selectAll().where('site_id', '=', siteId).executeTakeFirst()
    const backupWith = (
      siteId: number,
      values: {
        kind?: BackupKind
        origin?: Origin
        state?: 'completed' | 'failed'
        completedAt?: number
        deleteAt: number
      },
    ) =>
      api.database.transaction(async (tx) => {
        const { kind = 'db', origin = 'scheduled', state = 'completed', completedAt = now - DAY_MS, deleteAt } = values
        const { id } = await insertBackup(tx, { siteId, kind, origin, createdBy: null, deleteAt, now: completedAt })
        if (state === 'failed') await markFailed(tx, id, { error: 'x', deleteAt })
        else {
          const facts = { state, completed_at: completedAt, taken_at: completedAt, bytes: 1 } as const
          await tx.updateTable('backups').set(facts).where('id', '=', id).execute()
        }
        return id
      })

    test('yields to what a person starts, and is taken ten minutes later, unless the last one is old', async () => {
      const site = await live('yielding')
      // The test takes hours.
      await api.database.transaction((tx) =>
        tx
          .updateTable('tokens')
          .set({ expires_at: now + DAY_MS })
          .execute(),
      )
      startControl()
      await plan()
      const hourly = async () => {
        now = Number((await dueOf(site))?.database_at)
        await plan()
        return (await operations('backup.take_scheduled')).at(-1)?.id as number
      }
      const startAnother = async () => {
        const answer = await owner.call('POST', `/v1/sites/${site}/ondemand-backups`, { backup_type: 'fs' })
        expect(answer.status).toBe(200)
        await api.database.transaction(async (tx) => {
          const ended = { state: 'succeeded', finished_at: now } as const
          await tx.updateTable('operations').set(ended).where('type', '=', 'backup.take').execute()
          await tx.deleteFrom('backups').where('origin', '=', 'ondemand').execute()
        })
      }
      const state = async (id: number) =>
        (await operations('backup.take_scheduled')).find((row) => row.id === id)?.state

      const first = await hourly()
      await startAnother()
      expect(await state(first)).toBe('queued')
      startHost()
      expect(await ended(api.database, first)).toMatchObject({ state: 'succeeded' })
      await Promise.all(workers.splice(1).map((worker) => worker.stop(0)))

      const second = await hourly()
      await startAnother()
      expect(await state(second)).toBe('canceled')
      expect(await rows()).toEqual([[site, 'db', 'scheduled', 'completed']])
      expect((await dueOf(site))?.database_at).toBe(now + 600_000)
      const third = await hourly()
      expect(third).not.toBe(second)
      await api.database.transaction((tx) =>
        tx
          .updateTable('backups')
          .set({ taken_at: now - 2 * 3_600_000 - 1 })
          .where('state', '=', 'completed')
          .execute(),
      )
      await startAnother()
      expect(await state(third)).toBe('queued')
      const told = await api.database.read.selectFrom('activity').select('action').execute()
      expect(told.filter(({ action }) => action.startsWith('backup')).map(({ action }) => action)).toEqual(
        Array(3).fill('backup.created'),
      )
    })

    test('requests none when they are turned off', async () => {
      const site = await live('switched-off')
      startControl(false)
      await plan()
      now += 30 * 86_400_000
      await plan()
      expect(await rows()).toEqual([])
      expect(await dueOf(site)).toMatchObject({ site_id: site })
    })

    test('backs up each site in its turn, its database every hour and its files every night, and nothing earlier', async () => {
      startControl()
      const site = await live('first')
      const disabled = await live('second')
      const deploying = await live('third')
      const deleted = await live('fourth')
      await api.database.transaction(async (tx) => {
        await tx.updateTable('sites').set({ state: 'disabled' }).where('id', '=', disabled).execute()
        await tx.updateTable('sites').set({ state: 'deploying' }).where('id', '=', deploying).execute()
        await markDeleted(tx, deleted, now)
      })
      await plan()
      expect(await rows()).toEqual([])
      expect([await dueOf(deploying), await dueOf(deleted)]).toEqual([undefined, undefined])
      startHost()
      now = nextTurn(site, 'database', now)
      await plan()
      await allEnded('backup.take_scheduled')
      expect((await rows()).filter(([of]) => of === site)).toEqual([[site, 'db', 'scheduled', 'completed']])
      await plan()
      expect((await rows()).filter(([of]) => of === site)).toHaveLength(1)
      now = Math.max(nextTurn(site, 'files', now), nextTurn(disabled, 'files', now))
      await plan()
      await allEnded('backup.take_scheduled')
      expect((await rows()).filter(([, kind]) => kind === 'fs').sort()).toEqual([
        [site, 'fs', 'scheduled', 'completed'],
        [disabled, 'fs', 'scheduled', 'completed'],
      ])
      // Needs a new token, because the old one's hour is over.
      const again = await api.person(owner.email)
      const listed = (await again.call('GET', `/v1/sites/${site}/backups/fs`)).body.data
      expect(listed).toMatchObject([{ type: 'fs', title: expect.not.stringContaining('on-demand') }])
      // They are not reported, and take no slots of on-demand backups.
      const log = (await again.call('POST', '/v1/account/logs/activity', {})).body.data
      expect(log.filter(({ name }: { name: string }) => name.startsWith('backup'))).toEqual([])
      expect((await again.call('GET', `/v1/sites/${site}/ondemand-backups`)).body.data).toEqual([])
    })

    test('makes up for a day of downtime with one backup, and requests no other while that waits', async () => {
      startControl()
      const site = await live('first')
      await plan()
      now += DAY_MS + HOUR_MS
      await plan()
      expect(await rows()).toEqual([
        [site, 'db', 'scheduled', 'creating'],
        [site, 'fs', 'scheduled', 'creating'],
      ])
      // The host is still away.
      now += DAY_MS
      await plan()
      expect(await rows()).toHaveLength(2)
      const due = await dueOf(site)
      expect(due?.database_at).toBe(nextTurn(site, 'database', now))
      expect(due?.files_at).toBe(nextTurn(site, 'files', now))
      now += 7 * DAY_MS
      await plan()
      // They are the first to be forgotten, so that they do not push out what users requested.
      for (const type of ['backup.take_scheduled', 'backup.prove'])
        expect((await operations(type)).map(({ source }) => source && JSON.parse(source))).toContain(ROUTINE)
    })

    test('works after the clock was set back by a year', async () => {
      startControl()
      const site = await live('first')
      await plan()
      now -= 365 * DAY_MS
      await plan()
      expect(await rows()).toHaveLength(2)
      expect((await dueOf(site))?.database_at).toBe(nextTurn(site, 'database', now))
    })

    test('keeps the first database backup of a day for 30 days, and the others for 7', async () => {
      startControl()
      startHost()
      const site = await live('first')
      await plan()
      const kept: number[] = []
      for (let hours = 0; hours < 26; hours += 5) {
        now = nextTurn(site, 'database', Date.parse('2026-05-06T12:00:00Z') + hours * HOUR_MS)
        await plan()
        await allEnded('backup.take_scheduled')
        const newest = await api.database.read
          .selectFrom('backups')
          .select(['completed_at', 'delete_at'])
          .where('kind', '=', 'db')
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirstOrThrow()
        kept.push((newest.delete_at - (newest.completed_at as number)) / DAY_MS)
      }
      // At 12, 17 and 22 h of one day, and 3, 8 and 13 h of the next.
      expect(kept).toEqual([30, 7, 7, 30, 7, 7])
    })

    test('removes expired backups, also from the storage, but never the newest scheduled one of a kind', async () => {
      startControl()
      startHost()
      const site = await live('first')
      const repository = api.backups.repository(siteOwner(site))
      const deleteAt = now - 2 * DAY_MS
      const old = await backupWith(site, { deleteAt, completedAt: now - 9 * DAY_MS })
      const failed = await backupWith(site, { deleteAt, state: 'failed', origin: 'ondemand' })
      const onDemand = await backupWith(site, { deleteAt: now, origin: 'ondemand' })
      const undo = await backupWith(site, { deleteAt: now, origin: 'undo', kind: 'fs' })
      const young = await backupWith(site, { deleteAt: now + 1, origin: 'ondemand' })
      // Both were completed at the same moment, but only one counts as the newest.
      await backupWith(site, { deleteAt, completedAt: now - 8 * DAY_MS })
      const last = await backupWith(site, { deleteAt, completedAt: now - 8 * DAY_MS })
      const lastFiles = await backupWith(site, { deleteAt, kind: 'fs', completedAt: now - 40 * DAY_MS })
      for (const id of [old, onDemand, last])
        await repository.writeStream(
          (async function* () {
            yield Buffer.from(`content ${id}`)
          })(),
          { name: await nameIn(api, id) },
        )
      await plan()
      await allEnded('backup.expire')
      expect((await operations('backup.expire')).map(({ source }) => source && JSON.parse(source))).toEqual([ROUTINE])
      const left = (await api.database.read.selectFrom('backups').select('id').orderBy('id').execute()).map(
        ({ id }) => id,
      )
      expect(left).toEqual([young, last, lastFiles])
      for (const id of [old, failed, onDemand, undo])
        expect(await findBackup(api.database.read, site, id)).toBeUndefined()
      expect((await repository.list()).map(({ name }) => name)).toEqual([await nameIn(api, last)])
      const told = await api.database.read.selectFrom('events').select(['type', 'data']).execute()
      expect(told.map(({ type, data }) => [type, JSON.parse(data)])).toEqual([
        ['ondemand_backup_deleted', { id: String(onDemand), type: 'db' }],
      ])
      // Nothing is left to do.
      await plan()
      expect(await operations('backup.expire')).toHaveLength(1)
    })

    test('removes the hourly backups of a site together, once a day', async () => {
      startControl()
      const site = await live('first')
      await backupWith(site, { deleteAt: now - HOUR_MS, completedAt: now - 8 * DAY_MS })
      await backupWith(site, { deleteAt: now + DAY_MS })
      await plan()
      expect(await operations('backup.expire')).toHaveLength(0)
      now += DAY_MS
      await plan()
      expect(await operations('backup.expire')).toHaveLength(1)
    })

    test('a failed one leaves nothing behind, is in the log once a day, has an alert until the next one succeeds, and does not stop the others', async () => {
      startControl()
      startHost()
      const site = await live('first')
      const other = await live('second')
      await plan()
      const alerts = async () => {
        const rows = api.database.read.selectFrom('alerts').selectAll().orderBy('id')
        return (await rows.execute()).map((row) => [row.site_id, row.kind, row.subject, row.ended_at === null])
      }
      const entries = async () =>
        (
          await api.database.read.selectFrom('activity').selectAll().where('action', '=', 'backup.failed').execute()
        ).map(({ site_id, message }) => [site_id, message])
      const { snapshot } = content.siteDatabase
      Object.assign(content.siteDatabase, {
        snapshot: async (directory: Parameters<typeof snapshot>[0]) => {
          if (directory.siteId === site) throw new PermanentFailure('its database file is missing')
          return snapshot(directory)
        },
      })
      for (let hours = 0; hours < 3; hours++) {
        now += HOUR_MS
        await plan()
        await allEnded('backup.take_scheduled')
      }
      const all = await rows()
      expect(all.filter(([of]) => of === site)).toEqual([])
      expect(all.filter(([of]) => of === other)).toHaveLength(3)
      expect(await entries()).toEqual([
        [site, 'The scheduled backup of the database failed: its database file is missing'],
      ])
      expect(await alerts()).toEqual([[site, 'backup_failed', 'database', true]])
      now += DAY_MS
      await plan()
      await until(async () => (await entries()).length === 2)
      Object.assign(content.siteDatabase, { snapshot })
      now += HOUR_MS
      await plan()
      await allEnded('backup.take_scheduled')
      expect(await alerts()).toEqual([[site, 'backup_failed', 'database', false]])
    })

    test('when a deleted site is purged from the trash, its backups go, rows and content', async () => {
      startControl()
      startHost()
      const site = await live('first')
      const kept = await live('second')
      for (const id of [site, kept])
        await api.backups.repository(siteOwner(id)).writeStream(
          (async function* () {
            yield Buffer.from('content')
          })(),
          { name: await nameIn(api, await backupWith(id, { deleteAt: now + DAY_MS })) },
        )
      await deletedByControl(api, site)
      const purge = await api.database.transaction(async (tx) => {
        await markDeleted(tx, site, now)
        return enqueue(
          tx,
          purgeSite,
          { siteId: site },
          { siteId: site, hostId: host.hostId, accountId: owner.accountId },
        )
      })
      expect((await ended(api.database, purge)).state).toBe('succeeded')
      await allEnded('backups.forget_site')
      expect((await rows()).map(([of]) => of)).toEqual([kept])
      expect(await api.backups.repository(siteOwner(site)).storedBytes()).toBe(0)
      expect((await api.backups.repository(siteOwner(kept)).list()).length).toBe(1)
    })
  })
}
