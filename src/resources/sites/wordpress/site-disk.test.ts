import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { dialects, type TestDatabase, testDatabase } from '../../../../test/support/database.ts'
import { siteDraft } from '../../../../test/support/site-draft.ts'
import { registerHost } from '../../../hosting/host.store.ts'
import { insertDirectory } from '../../../hosting/site-directories/directory.store.ts'
import { makeAccount } from '../../account/account.ts'
import { insertSite } from '../site.store.ts'
import { diskQuota, tellDiskFull } from './site-disk.ts'

const now = Date.UTC(2026, 0, 1)
const MB = 1 << 20
const DAY_MS = 86_400_000

describe.each(dialects)('the disk of a site on $dialect', ({ dialect, skip }) => {
  let made: TestDatabase
  let hostId: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    made = await testDatabase(dialect)
    const host = { name: 'one', address: '', datacenters: '', identity: 'i', epoch: 0, maxSites: 1000 }
    hostId = await made.database.transaction((tx) => registerHost(tx, host))
  })
  afterEach(() => made?.drop())

  const directory = (siteId: number | null) =>
    made.database.transaction(async (tx) => {
      const kind = { coreVersion: '6.8', install: 'wordpress' }
      return (await insertDirectory(tx, { ...kind, hostId, siteId, now })).id
    })
  const site = (plan: string, name: string) =>
    made.database.transaction(async (tx) => {
      const account = await makeAccount(tx, { email: `${name}@example.com`, plan, now })
      return insertSite(tx, { ...siteDraft(name, { hostId }), accountId: account.id }, now)
    })

  test('is what the settings say, or the plan if that is less', async () => {
    const personal = await directory((await site('Personal', 'small-one')).id)
    const large = await directory((await site('High Traffic', 'large-one')).id)
    const spare = await directory(null)
    const mb = async (directoryId: number, siteDiskMb: number) =>
      (await diskQuota(made.database, directoryId, { siteDiskMb })).bytes / MB
    expect([await mb(personal, 10_240), await mb(personal, 100)]).toEqual([5120, 100])
    expect([await mb(large, 10_240), await mb(spare, 10_240), await mb(999, 50)]).toEqual([10_240, 10_240, 50])
    expect((await diskQuota(made.database, spare, { siteDiskMb: 50 })).files).toBe(20_000)
  })

  test('reports a full disk to its owner once a day, even if it is reported several times at once', async () => {
    const { id: siteId } = await site('Personal', 'small-one')
    const directoryId = await directory(siteId)
    const tell = (at: number) => tellDiskFull(made.database, directoryId, 'quota', at)
    const first = await Promise.all([tell(now), tell(now), tell(now + 1000)])
    expect(first.filter((told) => told === siteId)).toHaveLength(1)
    expect([await tell(now + DAY_MS - 1), await tell(now + 2 * DAY_MS)]).toEqual([undefined, siteId])
    expect(await tellDiskFull(made.database, await directory(null), 'disk', now)).toBeUndefined()
    const entries = await made.database.read.selectFrom('activity').selectAll().execute()
    expect(entries.map(({ action, site_id, source }) => [action, site_id, source])).toEqual([
      ['site.disk_full', siteId, 'systems'],
      ['site.disk_full', siteId, 'systems'],
    ])
  })
})
