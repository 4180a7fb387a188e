import { afterEach, beforeEach, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../../test/support/api.ts'
import type { Tx } from '../../../platform/db/database.ts'
import { DAY_MS } from '../../../platform/durations.ts'
import { siteOwner } from '../backup.ts'
import { backupIn, deletedByControl, store } from '../backups.fixture.ts'
import { forgetBackupsJob } from './forget-backups.job.ts'

let api: TestApi
let siteId: number
beforeEach(async () => {
  api = await testApi('sqlite')
  siteId = await api.site(await api.person('owner@example.com'), 'one')
  await store(api, siteId, await backupIn(api, siteId))
})
afterEach(() => api.close())

/** Runs the job at a time from now. @returns how long the next one waits */
async function run(afterMs = 0): Promise<number> {
  const now = () => Date.now() + afterMs
  const services = { backups: api.backups, database: api.database }
  const { remove, again } = forgetBackupsJob.steps as unknown as {
    remove: { run(context: object): Promise<{ waitMs: number }> }
    again: { commit(tx: Tx, context: object): Promise<void> }
  }
  const context = { services, input: { siteId }, now }
  const result = await remove.run(context)
  await api.database.transaction((tx) => again.commit(tx, { ...context, results: { remove: result } }))
  return result.waitMs
}
const storedBytes = () => api.backups.repository(siteOwner(siteId)).storedBytes()
const next = () =>
  api.database.read
    .selectFrom('operations')
    .select(['run_at as runAt', 'input'])
    .where('type', '=', forgetBackupsJob.name)
    .execute()

test('removes the backups of a site that a control has deleted, at once', async () => {
  await deletedByControl(api, siteId)
  expect(await run()).toBe(0)
  expect([await storedBytes(), await next()]).toEqual([0, []])
})

test('keeps those of the last days if only a host says that the site is gone, and removes them later', async () => {
  const waitMs = await run()
  expect(waitMs).toBeGreaterThan(5.9 * DAY_MS)
  expect(await storedBytes()).toBeGreaterThan(0)
  const [later] = await next()
  expect([later?.input, Number(later?.runAt) > Date.now() + 5 * DAY_MS]).toEqual([JSON.stringify({ siteId }), true])
  expect(await run(5 * DAY_MS)).toBeGreaterThan(0)
  expect(await storedBytes()).toBeGreaterThan(0)
  expect(await run(6.1 * DAY_MS)).toBe(0)
  expect(await storedBytes()).toBe(0)
})
