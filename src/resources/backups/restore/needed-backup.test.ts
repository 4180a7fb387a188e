import { afterEach, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../../test/support/api.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { backupIn } from '../backups.fixture.ts'
import { syncSitesJob } from '../sync/sync-sites.job.ts'
import { operationThatNeeds } from './restore.store.ts'

let api: TestApi | undefined
afterEach(() => api?.close())

test('a sync that has not ended needs the automatic backups of its own sites, and no others', async () => {
  api = await testApi('sqlite')
  const { database } = api
  const owner = await api.person('owner@example.com')
  const [sourceId, siteId] = [await api.site(owner, 'source'), await api.site(owner, 'destination')]
  const kept = { siteId, backupId: await backupIn(api, siteId) }
  const other = await backupIn(api, siteId)
  const { host_id: hostId } = await database.read
    .selectFrom('sites')
    .select('host_id')
    .where('id', '=', siteId)
    .executeTakeFirstOrThrow()
  const order = { siteId, sourceId, parts: [], database: true, skipHttpCheck: true, backups: [kept] }
  const operation = await database.transaction((tx) =>
    enqueue(tx, syncSitesJob, order, {
      siteId,
      accountId: owner.accountId,
      hostId,
      runAt: Date.now() + 86_400_000,
    }),
  )
  const needing = (site: number, backup: number) => database.transaction((tx) => operationThatNeeds(tx, site, backup))
  expect(await needing(siteId, kept.backupId)).toBe(operation)
  expect(await needing(siteId, other)).toBeUndefined()
  expect(await needing(sourceId, kept.backupId)).toBeUndefined()
  await database.transaction((tx) =>
    tx.updateTable('operations').set({ state: 'failed', finished_at: 1 }).where('id', '=', operation).execute(),
  )
  expect(await needing(siteId, kept.backupId)).toBeUndefined()
})
