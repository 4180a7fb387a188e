import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { enqueue } from '../../../platform/operations/enqueue.ts'
import { configureSite } from '../switches/configure-site.job.ts'

describe.each(dialects)('deleteSite on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterEach(() => api?.close())

  const workOf = (siteId: number) =>
    api.database.read
      .selectFrom('operations')
      .select(['type', 'state', 'cancel_requested'])
      .where('site_id', '=', siteId)
      .orderBy('id')
      .execute()

  test('200: cancels open operations of the site, asks running ones to roll back, and keeps those of other sites', async () => {
    const siteId = await api.site(owner, 'gone-site')
    const other = await api.site(owner, 'kept-site')
    const begun = await api.database.transaction(async (tx) => {
      const target = { accountId: owner.accountId, hostId: 1 }
      const ids: number[] = []
      for (const each of [siteId, siteId, other])
        ids.push(await enqueue(tx, configureSite, { siteId: each }, { ...target, siteId: each }))
      const [id] = ids as [number]
      await tx.updateTable('operations').set({ state: 'running', started_at: 1 }).where('id', '=', id).execute()
      await tx
        .updateTable('operation_steps')
        .set({ state: 'running', started_at: 1 })
        .where('operation_id', '=', id)
        .where('position', '=', 0)
        .execute()
      return id
    })
    const deleted = await owner.call('DELETE', `/v1/sites/${siteId}`)
    expect([deleted.status, Number(deleted.headers['operation-id'])]).toEqual([200, begun + 3])
    expect(await workOf(siteId)).toEqual([
      { type: 'site.configure', state: 'running', cancel_requested: 1 },
      { type: 'site.configure', state: 'canceled', cancel_requested: 0 },
      { type: 'site.remove', state: 'queued', cancel_requested: 0 },
    ])
    const events = api.database.read.selectFrom('events').select(['type', 'data']).where('site_id', '=', siteId)
    expect(await events.execute()).toEqual([{ type: 'site_deleted', data: '{"name":"gone-site"}' }])
    expect(await workOf(other)).toEqual([{ type: 'site.configure', state: 'queued', cancel_requested: 0 }])
  })
})
