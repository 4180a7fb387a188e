import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { loadRoute } from '../../../edge/routing/routes.store.ts'

describe.each(dialects)('disableSite and enableSite on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'switched-site')
    const route = { host_name: 'switched-site.test', site_id: siteId, changed_at: 1 }
    await api.database.transaction((tx) => tx.insertInto('routes').values(route).execute())
  })
  afterEach(() => api?.close())

  const shown = async () => [
    (await owner.call('GET', `/v1/sites/${siteId}`)).body.data.state,
    (await loadRoute(api.database.read, 'switched-site.test'))?.state,
  ]

  test('200: stores the state, tells edges, and records it', async () => {
    const disabled = await owner.call('PUT', `/v1/sites/${siteId}/disable`)
    expect([disabled.status, disabled.body.data.state]).toEqual([200, 'disabled'])
    expect(await shown()).toEqual(['disabled', 'disabled'])
    const enabled = await owner.call('PUT', `/v1/sites/${siteId}/enable`)
    expect([enabled.status, enabled.body.data.state]).toEqual([200, 'live'])
    expect(await shown()).toEqual(['live', 'live'])
    const { read } = api.database
    const activity = await read
      .selectFrom('activity')
      .select('action')
      .where('site_id', '=', siteId)
      .orderBy('id')
      .execute()
    const events = await read.selectFrom('events').select('type').where('site_id', '=', siteId).orderBy('id').execute()
    expect(activity.map(({ action }) => action)).toEqual(['site.disabled', 'site.enabled'])
    expect(events.map(({ type }) => type)).toEqual(['site_disabled', 'site_enabled'])
  })
})
