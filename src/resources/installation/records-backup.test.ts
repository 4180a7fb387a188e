import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { migrations } from '../../../migrations/index.ts'
import { dialects, type TestDatabase, testDatabase } from '../../../test/support/database.ts'
import { type TestBackups, testBackups } from '../../backups/backup-store.fixture.ts'
import { identifyInstallation } from '../../hosting/identity/identity.store.ts'
import { databaseRows } from '../../platform/db/rows/database-rows.ts'
import { fillDatabase } from '../../platform/db/rows/fill-database.ts'
import { textOfRows } from '../../platform/db/rows/row-stream.ts'
import {
  backUpRecords,
  forgetRecordsBackups,
  listRecordsBackups,
  newestWholeBackup,
  openRecordsBackup,
  recordsRepository,
  tooOld,
  verifyRecords,
} from './records-backup.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const start = Date.parse('2026-05-06T10:30:00Z')

describe.each(dialects.filter(({ skip }) => !skip))(
  'a backup of the control database, from $dialect',
  ({ dialect }) => {
    let made: TestDatabase
    let stored: TestBackups
    let now = start
    beforeEach(async () => {
      now = start
      made = await testDatabase(dialect)
      stored = await testBackups({ now: () => now })
      await made.database.transaction((tx) => identifyInstallation(tx, 'inst', 1))
    })
    afterEach(async () => {
      await made.drop()
      await stored.close()
    })

    const masterKey = Buffer.alloc(32, 9)
    const take = (at = start) => {
      now = at
      const parts = { database: made.database, backups: stored.backups, masterKey, credentials: '{}' }
      return backUpRecords(parts, { now })
    }
    const repository = () => recordsRepository(stored.backups)

    test('removes one that cannot be read back, and fails', async () => {
      const damaged = repository()
      vi.spyOn(damaged, 'readStream').mockImplementation(async function* () {
        yield Buffer.from('{')
        throw new Error('one chunk is damaged')
      })
      const backups = { repository: () => damaged } as unknown as typeof stored.backups
      const parts = { database: made.database, backups, masterKey, credentials: '{}' }
      await expect(backUpRecords(parts, { now })).rejects.toThrow('one chunk is damaged')
      expect(await listRecordsBackups(repository())).toEqual([])
    })

    test('names its installation, has the master key, and fills an empty database of either kind', async () => {
      await made.database.transaction((tx) => tx.insertInto('schedules').values({ name: 'é', last_slot: 5 }).execute())
      const { name } = await take()
      const open = () => openRecordsBackup(repository(), name)
      expect((await open()).head).toEqual({
        format: 1,
        takenAt: start,
        installation: 'inst',
        hosts: [],
        migrations: Object.keys(migrations),
        masterKey: masterKey.toString('base64'),
        credentials: '{}',
      })
      for (const { dialect: to, skip } of dialects) {
        if (skip) continue
        const other = await testDatabase(to, {})
        await fillDatabase(other.database, async () => (await open()).rows, { migrations })
        expect(await other.database.read.selectFrom('schedules').selectAll().execute()).toEqual([
          { name: 'é', last_slot: 5 },
        ])
        await other.drop()
      }
    })

    test('refuses one that another version has written in another format', async () => {
      await made.database.atOneMoment((tx) =>
        repository().writeStream(textOfRows(databaseRows(tx), { format: 2 }), { name: 'r1' }),
      )
      await expect(openRecordsBackup(repository(), 'r1')).rejects.toThrow('created by another version of Stead')
    })

    test('finds the newest complete one past damaged ones, which it names, and does not count an unavailable storage as damage', async () => {
      const { name: older } = await take()
      const { name: newer } = await take(start + HOUR_MS)
      expect(await newestWholeBackup(repository())).toMatchObject({ name: newer, damaged: [] })
      await stored.storage.put(`stead/backups/${newer}.stream`, Buffer.from('torn'))
      expect(await newestWholeBackup(repository())).toMatchObject({
        name: older,
        head: { takenAt: start },
        damaged: [{ name: newer, reason: expect.any(String) }],
      })
      await expect(newestWholeBackup(repository(), AbortSignal.abort(new Error('away')))).rejects.toThrow('away')
      await stored.storage.put(`stead/backups/${older}.stream`, Buffer.from('torn'))
      expect(await newestWholeBackup(repository())).toMatchObject({ name: undefined, damaged: [{}, {}] })
    })

    test('keeps an unreadable one for a day, and then no longer delays the sweep with it', async () => {
      const { name } = await take()
      await take(start + HOUR_MS)
      await stored.storage.put(`stead/backups/${name}.stream`, Buffer.from('torn'))
      const forget = () => forgetRecordsBackups(repository(), { now })
      now = start + DAY_MS - 1
      await expect(forget()).rejects.toThrow(name)
      now = start + DAY_MS
      expect(await forget()).toBe(1)
      expect(await repository().list()).toHaveLength(1)
    })

    test('reads one back to its end, and refuses an incomplete one', async () => {
      const { name } = await take()
      const tables = await made.database.atOneMoment((tx) => databaseRows(tx).tables())
      expect(tables.length).toBeGreaterThan(25)
      expect(await verifyRecords(repository(), name)).toBeGreaterThan(0)
      const whole = (await Array.fromAsync(repository().readStream(name))).map(String).join('')
      const half = whole.slice(0, whole.lastIndexOf('{"end"'))
      await repository().writeStream(Readable.from([Buffer.from(half)]), { name: 'r1' })
      await expect(verifyRecords(repository(), 'r1')).rejects.toThrow('The text ends inside')
    })

    test('removes expired ones from the storage, and keeps the newest', async () => {
      const first = await take(start)
      await take(start + HOUR_MS)
      const second = await take(start + 25 * HOUR_MS)
      now = start + 26 * HOUR_MS
      // The first day has a later one, which is also a day old now, and the last of its day.
      expect(await forgetRecordsBackups(repository(), { now })).toBe(1)
      expect((await listRecordsBackups(repository())).map(({ name }) => name)).toEqual([
        second.name,
        `r${start + HOUR_MS}`,
      ])
      await expect(openRecordsBackup(repository(), first.name)).rejects.toThrow()
      await forgetRecordsBackups(repository(), { now: start + 400 * DAY_MS })
      expect((await listRecordsBackups(repository())).map(({ name }) => name)).toEqual([second.name])
      expect(await verifyRecords(repository(), second.name)).toBeGreaterThan(0)
    })
  },
)

test('keeps all of a day, then the last of each day for thirty days', () => {
  const hourly = Array.from({ length: 24 * 40 }, (_, hour) => ({ createdAt: start - hour * HOUR_MS }))
  const old = new Set(tooOld(hourly, start))
  const kept = hourly.filter((each) => !old.has(each)).map(({ createdAt }) => createdAt)
  expect(kept.slice(0, 24)).toEqual(hourly.slice(0, 24).map(({ createdAt }) => createdAt))
  const days = kept.slice(24).map((at) => new Date(at).toISOString().slice(0, 16))
  expect(days.slice(0, 2)).toEqual(['2026-05-04T23:30', '2026-05-03T23:30'])
  expect(days.at(-1)).toBe('2026-04-06T23:30')
  expect(tooOld([{ createdAt: 0 }], start)).toEqual([])
})
