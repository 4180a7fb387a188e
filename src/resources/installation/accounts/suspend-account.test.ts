import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'
import { loadRoute, routeChangesSince } from '../../../edge/routing/routes.store.ts'
import { putRoute } from '../../sites/addresses/route.store.ts'

describe.each(dialects)('a suspended account on $dialect', ({ dialect, skip }) => {
  let api: TestApi
  let operator: Person
  let customer: Person
  let site: number
  beforeEach(async (context) => {
    if (skip) return context.skip()
    api = await testApi(dialect)
    operator = await api.person('operator@example.com')
    customer = await api.person('customer@example.com')
    site = await api.site(customer, 'shop')
    await api.home(site)
    await api.database.transaction((tx) => putRoute(tx, site, 'shop.localhost', 1))
  })
  afterEach(() => api?.close())

  const change = (verb: 'suspend' | 'resume', id = customer.accountId) =>
    operator.call('PUT', `/v1/installation/accounts/${id}/${verb}`)
  const status = async (by: 'call' | 'browse') => (await customer[by]('GET', '/v1/sites')).status
  const entries = async () =>
    await api.database.read
      .selectFrom('activity')
      .select(['action', 'account_id'])
      .where('action', 'like', 'account.%')
      .execute()

  test('its tokens and sessions are refused at once, and work again when it is resumed', async () => {
    expect([await status('call'), await status('browse')]).toEqual([200, 200])
    const suspended = await change('suspend')
    expect(suspended.body.data).toMatchObject({ id: customer.accountId, suspended_at: expect.any(String) })
    expect([await status('call'), await status('browse')]).toEqual([401, 401])
    // Other accounts keep working.
    expect((await operator.call('GET', '/v1/sites')).status).toBe(200)
    expect((await change('resume')).body.data.suspended_at).toBe(null)
    expect([await status('call'), await status('browse')]).toEqual([200, 200])
  })

  test('edges learn of its sites, in both directions', async () => {
    const { read } = api.database
    expect((await loadRoute(read, 'shop.localhost'))?.isSuspended).toBe(false)
    const { newest } = await routeChangesSince(read, undefined)
    await change('suspend')
    expect((await loadRoute(read, 'shop.localhost'))?.isSuspended).toBe(true)
    expect((await routeChangesSince(read, newest)).changes).toMatchObject([{ hostName: 'shop.localhost' }])
    await change('resume')
    expect((await loadRoute(read, 'shop.localhost'))?.isSuspended).toBe(false)
    expect((await routeChangesSince(read, newest)).changes).toHaveLength(2)
  })

  test('collaborators on its sites see why visitors cannot reach them', async () => {
    const mate = await api.person('mate@example.com')
    await api.collaborate(mate, site, [])
    const statusOf = async () => (await mate.call('GET', `/v1/sites/${site}/status`)).body.data
    expect((await statusOf()).status).toBe('live')
    await change('suspend')
    expect(await statusOf()).toMatchObject({ status: 'suspended', reason: expect.stringContaining('suspended') })
  })

  test('is logged once, however often it is suspended, and the operator cannot suspend itself', async () => {
    for (let times = 0; times < 2; times++) await change('suspend')
    expect(await entries()).toEqual([{ action: 'account.suspended', account_id: customer.accountId }])
    expect((await change('suspend', operator.accountId)).body.code).toBe('operator_account')
    expect((await change('suspend', 999_999)).status).toBe(404)
  })

  test('gets no new token, and is told why', async () => {
    const made = await customer.call('POST', '/v1/applications', { name: 'a program' })
    expect(made.status).toBe(200)
    const { client_id, client_secret } = made.body.data
    const token = () => api.call('POST', '/auth/token', { grant_type: 'client_credentials', client_id, client_secret })
    expect((await token()).status).toBe(200)
    await change('suspend')
    expect(await token()).toMatchObject({
      status: 401,
      body: { error: 'invalid_client', error_description: expect.stringContaining('suspended') },
    })
  })
})
