import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../../test/support/api.ts'
import { dialects } from '../../../../test/support/database.ts'

describe.each(dialects)('POST /v1/sites on $dialect', ({ dialect, skip }) => {
  if (skip) return void test.skip('no server', () => {})
  let api: TestApi
  let owner: Person
  beforeAll(async () => {
    api = await testApi(dialect)
    owner = await api.person('owner@example.com')
  })
  afterAll(() => api?.close())

  test('400 for an administrator name without an address, an address without a name, and an invalid address', async () => {
    const refused = async (order: object) => {
      const { status, body } = await owner.call('POST', '/v1/sites', { name: 'shop', ...order })
      return [status, body.errors]
    }
    expect(await refused({ wp_admin_username: 'chief' })).toEqual([
      400,
      ['wp_admin_email: must accompany wp_admin_username'],
    ])
    expect(await refused({ wp_admin_email: 'chief@example.com' })).toEqual([
      400,
      ['wp_admin_username: must accompany wp_admin_email'],
    ])
    expect(await refused({ wp_admin_username: 'chief', wp_admin_email: 'chief' })).toEqual([
      400,
      ['wp_admin_email: must be a valid email'],
    ])
    expect((await owner.call('GET', '/v1/sites')).body.data).toEqual([])
  })

  test('503 without an active host, for a new site and for a clone, and records nothing', async () => {
    const source = await api.site(owner, 'source')
    const rows = async () => [
      await api.database.read.selectFrom('sites').select('name').execute(),
      await api.database.read.selectFrom('operations').select('id').execute(),
      await api.database.read.selectFrom('routes').select('host_name').execute(),
    ]
    const before = await rows()
    const setState = (state: 'active' | 'cordoned') =>
      api.database.transaction((tx) => tx.updateTable('hosts').set({ state }).execute())
    await setState('cordoned')
    for (const path of ['/v1/sites', `/v1/sites/${source}/clone`]) {
      const { status, body } = await owner.call('POST', path, { name: 'shop' })
      expect([path, status, body.errors[0]]).toEqual([path, 503, expect.stringMatching(/^No host in .* is ready/)])
    }
    expect(await rows()).toEqual(before)
    await setState('active')
    expect((await owner.call('POST', '/v1/sites', { name: 'shop' })).status).toBe(201)
  })
})
