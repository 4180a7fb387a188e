import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { putRoute } from '../addresses/route.store.ts'

describe.each(dialects)('convert on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let owner: Person
  let siteId: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
    siteId = await api.site(owner, 'first')
  })
  afterEach(() => api?.close())

  const data = async (method: string, path: string) => {
    const { status, body } = await owner.call(method, path)
    expect(status).toBe(200)
    return body.data
  }
  const convert = () => owner.call('PUT', `/v1/sites/${siteId}/convert`)
  const counted = async () => (await data('GET', '/v1/account')).capacity.sites
  const addDomain = () =>
    api.database.transaction(async (tx) => {
      await putRoute(tx, siteId, 'first.localhost', 0)
      await putRoute(tx, siteId, 'www.example.com', 0, true)
    })

  test('200 there and back: counts against the plan as what it is, and changes nothing else', async () => {
    const before = await data('GET', `/v1/sites/${siteId}`)
    expect(await counted()).toMatchObject({ billable: 1, staging: 0, total: 1 })
    expect((await convert()).body.data).toEqual({ ...before, staging: true })
    expect(await counted()).toMatchObject({ billable: 0, staging: 1, total: 1 })
    expect((await convert()).body.data).toEqual({ ...before, staging: false })
    expect(await counted()).toMatchObject({ billable: 1, staging: 0, total: 1 })
    expect(await data('GET', `/v1/sites/${siteId}`)).toEqual(before)
  })

  test('400 with a domain, which stays, and 200 once it is removed', async () => {
    await addDomain()
    expect(await convert()).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('this site has 1. Remove all of its DNS records first')] },
    })
    expect(await data('GET', `/v1/sites/${siteId}`)).toMatchObject({ staging: false, domainsCount: 1 })
    await api.database.transaction((tx) => tx.deleteFrom('routes').where('host_name', '=', 'www.example.com').execute())
    expect((await convert()).status).toBe(200)
  })

  test('400 when the plan has no place for one more live site', async () => {
    expect((await convert()).status).toBe(200)
    await api.database.transaction((tx) => tx.updateTable('accounts').set({ plan: 'Personal' }).execute())
    for (const name of ['second', 'third', 'fourth']) await api.site(owner, name)
    expect(await convert()).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('allows 3 live sites')] },
    })
    expect(await counted()).toMatchObject({ billable: 3, staging: 1 })
  })

  test('gives the last place to only one of two simultaneous requests', async () => {
    await api.database.transaction((tx) => tx.updateTable('accounts').set({ plan: 'Personal' }).execute())
    const ids = [siteId]
    for (const name of ['second', 'third', 'fourth']) ids.push(await api.site(owner, name))
    await api.database.transaction((tx) =>
      tx.updateTable('sites').set({ staging: 1 }).where('id', 'in', ids.slice(2)).execute(),
    )
    const both = await Promise.all(ids.slice(2).map((id) => owner.call('PUT', `/v1/sites/${id}/convert`)))
    expect(both.map(({ status }) => status).sort()).toEqual([200, 400])
    expect(await counted()).toMatchObject({ billable: 3, staging: 1 })
  })

  test('400 for a disabled site', async () => {
    await data('PUT', `/v1/sites/${siteId}/disable`)
    expect((await convert()).status).toBe(400)
  })
})
