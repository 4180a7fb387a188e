import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { dialects } from '../../../test/support/database.ts'
import { findBackup, insertBackup, markFailed, newestCompleted, setDamage } from './backup.store.ts'
import { type Backup, nameInRepository } from './backup.ts'
import { backupIn, DUMP } from './backups.fixture.ts'
import { inLargestUnit } from './present-backup.ts'

const at = (text: string) => Date.parse(`${text}Z`)

test('shows the time left in the largest unit that fits', () => {
  const [minute, hour, day] = [60_000, 3_600_000, 86_400_000]
  const said = [30 * day - 1, 7 * day, 1.2 * day, day - 1, hour, 90 * minute, minute, minute - 1, 0, -day].map(
    inLargestUnit,
  )
  expect(said).toEqual([
    ...['30 days', '7 days', '1 day', '24 hours', '1 hour', '2 hours', '1 minute'],
    ...['less than a minute', 'less than a minute', 'less than a minute'],
  ])
})

for (const { dialect, skip } of dialects) {
  describe.skipIf(skip)(`lists of backups on ${dialect}`, () => {
    let api: TestApi
    let owner: Person
    let site: number
    let other: number

    beforeAll(async () => {
      api = await testApi(dialect)
      owner = await api.person('owner@example.com')
      site = await api.site(owner, 'listed-site')
      other = await api.site(owner, 'other-site')
    })
    afterAll(() => api.close())

    const list = async (rest: string, siteId = site) =>
      (await owner.call('GET', `/v1/sites/${siteId}/${rest}`)).body.data

    test('200: lists all completed backups, newest first, and pairs each database with the newest files that are no newer', async () => {
      const first = await backupIn(api, site, { origin: 'scheduled', takenAt: at('2026-05-06T01:00:00') })
      const files = await backupIn(api, site, { kind: 'fs', origin: 'scheduled', takenAt: at('2026-05-06T02:03:04') })
      // Started later than the moment that it shows, which is the one that counts.
      const second = await backupIn(api, site, { origin: 'undo', takenAt: at('2026-05-06T03:00:00') })
      const byHand = await backupIn(api, site, { kind: 'fs', takenAt: at('2026-05-06T04:00:00') })
      const same = await backupIn(api, site, { takenAt: at('2026-05-06T04:00:00') })
      await backupIn(api, other)
      const unfinished = { siteId: site, origin: 'ondemand', createdBy: null, deleteAt: 9e12, now: 1 } as const
      await api.database.transaction(async (tx) => {
        await insertBackup(tx, { ...unfinished, kind: 'db' })
        const { id } = await insertBackup(tx, { ...unfinished, kind: 'fs' })
        await markFailed(tx, id, { error: 'x', deleteAt: 9e12 })
      })

      // On PostgreSQL, a backup without a time would sort first.
      const newest = async (kind: 'db' | 'fs') => (await newestCompleted(api.database.read, site, kind))?.id
      expect([await newest('db'), await newest('fs')]).toEqual([same, byHand])

      expect(await list('backups')).toEqual([
        { timestamp: '2026-05-06-04-00', siteId: site, databaseBackupId: same, filesystemBackupId: byHand },
        { timestamp: '2026-05-06-03-00', siteId: site, databaseBackupId: second, filesystemBackupId: files },
        { timestamp: '2026-05-06-01-00', siteId: site, databaseBackupId: first, filesystemBackupId: null },
      ])
      expect(await list('backups/fs')).toEqual([
        {
          id: String(byHand),
          site_id: site,
          backup_timestamp: '2026-05-06 04:00:00',
          type: 'fs',
          title: 'Files of 2026-05-06 04:00 (on-demand)',
          formatted_timestamp: '2026-05-06T04:00:00.000Z',
        },
        {
          id: String(files),
          site_id: site,
          backup_timestamp: '2026-05-06 02:03:04',
          type: 'fs',
          title: 'Files of 2026-05-06 02:03',
          formatted_timestamp: '2026-05-06T02:03:04.000Z',
        },
      ])
      const titles = (await list('backups/db')).map(({ title }: { title: string }) => title)
      expect(titles).toEqual([
        'Database of 2026-05-06 04:00 (on-demand)',
        'Database of 2026-05-06 03:00 (before an overwrite)',
        'Database of 2026-05-06 01:00',
      ])
      // On-demand backups: both kinds, those being created, and none that failed.
      const onDemand = (await list('ondemand-backups')).map((each: { type: string; status: string }) => [
        each.type,
        each.status,
      ])
      expect(onDemand).toEqual([
        ['db', 'creating'],
        ['db', 'completed'],
        ['fs', 'completed'],
      ])
    })

    test('200: adds reason, size, end, and damage only on request', async () => {
      const takenAt = at('2026-06-01T10:00:00')
      const id = await backupIn(api, other, { origin: 'undo', takenAt })
      const backup = (await findBackup(api.database.read, other, id)) as Backup
      await api.database.transaction((tx) =>
        setDamage(tx, backup, new Map([[nameInRepository(backup), 'Part 3 is missing']])),
      )
      const shown = async (query = '') =>
        (await list(`backups/db${query}`, other)).find((each: { id: string }) => each.id === String(id))
      const plain = await shown()
      expect(plain).not.toHaveProperty('details')
      expect(await shown('?include=details')).toEqual({
        ...plain,
        details: {
          ...{ origin: 'undo', createdBy: 'Owner (owner@example.com)', bytes: DUMP.length },
          ...{ deleteAt: new Date(takenAt + 1e9).toISOString(), damage: 'Part 3 is missing' },
        },
      })
      expect((await owner.call('GET', `/v1/sites/${other}/backups/fs?include=all`)).status).toBe(400)
    })

    test('404: for a backup of another site, one that is not on demand, and an id that is not a number', async () => {
      const onDemand = await backupIn(api, other)
      const scheduled = await backupIn(api, other, { origin: 'scheduled' })
      const get = async (siteId: number, id: number | string) =>
        (await owner.call('GET', `/v1/sites/${siteId}/ondemand-backups/${id}`)).status
      expect([await get(other, onDemand), await get(site, onDemand), await get(other, scheduled)]).toEqual([
        200, 404, 404,
      ])
      expect([await get(other, 'x'), await get(other, 0), await get(other, '99999999999999999999')]).toEqual([
        404, 404, 404,
      ])
    })
  })
}
