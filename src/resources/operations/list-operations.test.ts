import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { enqueue } from '../../platform/operations/enqueue.ts'
import { switchMaintenance } from '../performance/switch-maintenance.job.ts'

let api: TestApi
let owner: Person
let mate: Person
beforeAll(async () => {
  api = await testApi('sqlite')
  owner = await api.person('owner@example.com')
  mate = await api.person('mate@example.com')
})
afterAll(() => api?.close())

test('200: names the site and the person; operations of Stead have no person, and a deleted site has no name', async () => {
  const site = await api.site(owner, 'shared')
  const gone = await api.site(owner, 'gone')
  await api.collaborate(mate, site, [])
  await owner.call('PUT', `/v1/sites/${site}`, { name: 'The shop' })
  const { id: hostId } = await api.database.read.selectFrom('hosts').select('id').executeTakeFirstOrThrow()
  await api.database.transaction(async (tx) => {
    const about = { accountId: owner.accountId, hostId }
    const input = (siteId: number) => ({ siteId, enabled: true })
    await enqueue(tx, switchMaintenance, input(site), { ...about, siteId: site, askedById: mate.accountId })
    await enqueue(tx, switchMaintenance, input(gone), { ...about, siteId: gone })
    await tx.updateTable('site_access').set({ is_deleted: 1 }).where('site_id', '=', gone).execute()
  })
  const listed = async (who: Person) => {
    const { data } = (await who.call('GET', '/v1/operations?type=site.maintenance')).body
    return data.map((one: { siteName: string; accountEmail: string }) => [one.siteName, one.accountEmail])
  }
  expect(await listed(owner)).toEqual([
    [null, null],
    ['The shop', 'mate@example.com'],
  ])
  expect(await listed(mate)).toEqual([['The shop', 'mate@example.com']])
})
