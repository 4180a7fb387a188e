import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../test/support/database.ts'
import { type TestBackups, testBackups } from './backups/backup-store.fixture.ts'
import { readConfig } from './config.ts'
import { controlJobs, hostJobs } from './jobs.ts'
import { createSealer } from './platform/crypto/seal.ts'
import { claimKey } from './platform/http/idempotency/idempotency.ts'
import { noLog } from './platform/log/log.ts'
import type { LogStore } from './platform/log-store/log-store.ts'
import { openLogStore } from './platform/log-store/open-log-store.ts'
import { until } from './platform/operations/harness.ts'
import { findOperation } from './platform/operations/read.ts'
import { createScheduler } from './platform/operations/schedule.ts'
import { createWorker } from './platform/operations/worker/worker.ts'
import { makeApplication, makeFirstAccount } from './resources/account/account.ts'
import { listEntries } from './resources/activity/activity.store.ts'
import { recordActivity } from './resources/activity/record.ts'
import { insertToken } from './resources/authentication/token.store.ts'
import type { ControlServices } from './resources/kit/control-services.ts'
import { actions as siteActions } from './resources/sites/actions.ts'
import { schedules } from './schedules.ts'

const HOUR_MS = 3600_000
const DAY_MS = 24 * HOUR_MS
const start = Date.parse('2026-05-06T10:00:00Z')
const page = { perPage: 50, offset: 0 }

test('every schedule has a unique name, and starts work that a role runs', () => {
  expect(new Set(schedules.map(({ name }) => name)).size).toBe(schedules.length)
  expect(new Set([...hostJobs, ...controlJobs].map(({ name }) => name)).size).toBe(hostJobs.length + controlJobs.length)
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`recurring work on ${dialect}`, () => {
    let made: TestDatabase
    let logFolder: string
    let logs: LogStore
    let stored: TestBackups
    let now = start
    const clock = () => now
    beforeEach(async () => {
      made = await testDatabase(dialect)
      logFolder = await mkdtemp(join(tmpdir(), 'stead-schedules-'))
      logs = openLogStore({ url: made.connection.url, folder: logFolder })
      stored = await testBackups({ now: clock })
      now = start
    })
    afterEach(async () => {
      await logs.close()
      await stored.close()
      await made.drop()
      await rm(logFolder, { recursive: true })
    })

    /** Sets the clock to a time, and runs all work that is due. */
    const reach = async (time: number) => {
      now = time
      const { database } = made
      const masterKey = Buffer.alloc(32)
      const { backups } = stored
      const services = { database, logs, backups, masterKey, config: readConfig({}) } as unknown as ControlServices
      const worker = createWorker({
        database,
        definitions: controlJobs,
        runner: 'control',
        services,
        log: noLog,
        clock,
      })
      worker.start()
      await createScheduler({ database, schedules, log: noLog, clock }).tick()
      await until(async () => {
        const open = await database.read
          .selectFrom('operations')
          .select('id')
          .where('finished_at', 'is', null)
          .execute()
        return open.length === 0
      })
      await worker.stop(1000)
    }
    const account = async () => {
      const first = await made.database.transaction((tx) => makeFirstAccount(tx, { email: 'a@b.example', now }))
      return first as NonNullable<typeof first>
    }

    test('all scheduled work succeeds', async () => {
      await reach(start)
      await reach(start + DAY_MS)
      const rows = await made.database.read.selectFrom('operations').select(['id', 'type']).execute()
      expect(rows.map(({ type }) => type).sort()).toEqual(schedules.map(({ name }) => name).sort())
      for (const { id } of rows)
        expect(await findOperation(made.database.read, id)).toMatchObject({ state: 'succeeded' })
    })

    test('expired tokens and old idempotency keys are deleted, others stay', async () => {
      const { account: owner } = await account()
      await reach(start)
      const { id: applicationId } = await made.database.transaction((tx) =>
        makeApplication(tx, { accountId: owner.id, name: 'x', isOwner: true, now }),
      )
      await made.database.transaction(async (tx) => {
        // More than two batches.
        for (let number = 0; number < 1003; number++)
          await insertToken(tx, { hash: `old ${number}`, applicationId, now, expiresAt: start + HOUR_MS })
      })
      await made.database.transaction((tx) =>
        insertToken(tx, { hash: 'new', applicationId, now, expiresAt: start + 4 * HOUR_MS }),
      )
      const sealer = createSealer(Buffer.alloc(32))
      const key = (name: string, at: number) =>
        claimKey(made.database, sealer, { applicationId, key: name, fingerprint: 'f' }, at)
      await key('old', start - 23 * HOUR_MS)
      await key('new', start)
      await reach(start + 2 * HOUR_MS)
      const tokens = await made.database.read.selectFrom('tokens').select('hash').execute()
      expect(tokens).toEqual([{ hash: 'new' }])
      const keys = await made.database.read.selectFrom('idempotency_keys').select('key').execute()
      expect(keys).toEqual([{ key: 'new' }])
    })

    test('an entry stays in the log of its site for 30 days, and in that of its account for 60', async () => {
      const { account: owner } = await account()
      await reach(start)
      const entry = { action: siteActions['site.updated'], accountId: owner.id, siteId: 7, message: '' } as const
      await made.database.transaction((tx) => recordActivity(tx, 'systems', { ...entry, now: start }))
      await made.database.transaction((tx) => recordActivity(tx, 'systems', { ...entry, now: start + 29 * DAY_MS }))
      const counts = async () => {
        const { read } = made.database
        const ofSite = await listEntries(read, { siteId: 7 }, [], page)
        return [ofSite.length, (await listEntries(read, { accountId: owner.id }, [], page)).length]
      }
      await reach(start + 30 * DAY_MS - HOUR_MS)
      expect(await counts()).toEqual([2, 2])
      await reach(start + 30 * DAY_MS + HOUR_MS)
      expect(await counts()).toEqual([1, 2])
      await reach(start + 60 * DAY_MS + HOUR_MS)
      expect(await counts()).toEqual([0, 1])
      await reach(start + 90 * DAY_MS)
      expect(await counts()).toEqual([0, 0])
    })

    test('finished operations are deleted after 30 days', async () => {
      await reach(start)
      await reach(start + HOUR_MS)
      const first = await made.database.read.selectFrom('operations').select('id').execute()
      expect(first.length).toBeGreaterThan(0)
      await reach(start + 32 * DAY_MS)
      const left = await made.database.read.selectFrom('operations').select('id').execute()
      expect(left.filter(({ id }) => first.some((old) => old.id === id))).toEqual([])
    })
  })
}
