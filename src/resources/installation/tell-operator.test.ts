import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { type TestBackups, testBackups } from '../../backups/backup-store.fixture.ts'
import { identifyInstallation } from '../../hosting/identity/identity.store.ts'
import { requestCancel } from '../../platform/operations/control.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { ended, startWorker } from '../../platform/operations/harness.ts'
import type { Worker } from '../../platform/operations/worker/worker.ts'
import { makeFirstAccount } from '../account/account.ts'
import type { ControlServices } from '../kit/control-services.ts'
import { backUpRecordsJob } from './back-up-records.job.ts'
import { backedUpAt } from './installation.store.ts'

describe.each(dialects.filter(({ skip }) => !skip))(
  'a control database that cannot be backed up, on $dialect',
  ({ dialect }) => {
    let made: TestDatabase
    let stored: TestBackups
    let worker: Worker
    let isAway = false
    beforeEach(async () => {
      isAway = false
      made = await testDatabase(dialect)
      stored = await testBackups({
        around: (storage) => ({
          ...storage,
          async put(...given) {
            if (isAway) throw new Error('the bucket is gone')
            return storage.put(...given)
          },
        }),
      })
      const { database } = made
      await database.transaction(async (tx) => {
        await identifyInstallation(tx, 'inst', 1)
        await makeFirstAccount(tx, { email: 'operator@stead.example', now: 1 })
      })
      const services = {
        config: { dataDir: stored.folder },
        database,
        backups: stored.backups,
        masterKey: Buffer.alloc(32, 9),
      } as unknown as ControlServices
      worker = startWorker<ControlServices>(database, [{ ...backUpRecordsJob, attempts: 1 }], { services })
    })
    afterEach(async () => {
      await worker.stop(0)
      await made.drop()
      await stored.close()
    })

    const backUp = async () => {
      const { database } = made
      const id = await database.transaction((tx) => enqueue(tx, backUpRecordsJob, {}))
      return (await ended(database, id)).state
    }
    const mails = async () => {
      const rows = await made.database.read
        .selectFrom('operations')
        .select('input')
        .where('type', '=', 'mail.send')
        .execute()
      return rows.map(({ input }) => JSON.parse(input))
    }
    const logged = () =>
      made.database.read
        .selectFrom('activity')
        .select('message')
        .where('action', '=', 'records.backup_failed')
        .execute()

    test('mails the operator once when it begins to fail, again only after a success, and never for a canceled backup', async () => {
      expect(await backUp()).toBe('succeeded')
      const since = await backedUpAt(made.database.read)
      expect(since).toBeGreaterThan(0)
      expect(await mails()).toEqual([])
      isAway = true
      for (let hour = 0; hour < 3; hour++) expect(await backUp()).toBe('failed')
      expect(await mails()).toMatchObject([
        { to: 'operator@stead.example', subject: "The backup of Stead's own records failed" },
      ])
      expect((await mails())[0].text).toContain('the bucket is gone')
      expect(await logged()).toEqual([{ message: expect.stringContaining('the bucket is gone') }])
      expect(await backedUpAt(made.database.read)).toBe(since)
      isAway = false
      expect(await backUp()).toBe('succeeded')
      const { database } = made
      const id = await database.transaction((tx) => enqueue(tx, backUpRecordsJob, {}, { afterMs: 3_600_000 }))
      const known = new Map([[backUpRecordsJob.name, backUpRecordsJob]])
      await database.transaction((tx) => requestCancel(tx, id, 1, known))
      expect((await ended(database, id)).state).toBe('canceled')
      expect(await mails()).toHaveLength(1)
      isAway = true
      expect(await backUp()).toBe('failed')
      expect(await mails()).toHaveLength(2)
    })
  },
)
