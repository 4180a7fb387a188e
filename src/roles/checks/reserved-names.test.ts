import { afterEach, expect, test } from 'vitest'
import { type TestApi, testApi } from '../../../test/support/api.ts'
import { insertZone } from '../../resources/dns/zone.store.ts'
import { contextOf } from './context.fixture.ts'
import { reservedNamesCheck } from './reserved-names.ts'

let api: TestApi
afterEach(() => api.close())

const settings = { STEAD_PANEL_URL: 'https://panel.hoster.test', STEAD_STAGING_DOMAIN: 'sites.hoster.test' }

test('reports a tenant’s zone that a setting reserves, and a domain that the panel shares with sites', async () => {
  api = await testApi('sqlite')
  await api.person('operator@example.com')
  const tenant = await api.person('tenant@example.com')
  const find = (given: Record<string, string>) => reservedNamesCheck.run(contextOf(given, { database: api.database }))
  expect(await find({})).toMatchObject([{ state: 'ok' }])
  await api.database.transaction((tx) => insertZone(tx, tenant.accountId, 'hoster.test', 1))
  expect(await find(settings)).toMatchObject([
    { state: 'warning', text: expect.stringContaining('share the registrable domain hoster.test') },
    { state: 'problem', text: 'hoster.test belongs to this installation, but is a DNS zone of tenant@example.com.' },
  ])
  expect(await find({ ...settings, STEAD_PANEL: 'off' })).not.toContainEqual(
    expect.objectContaining({ state: 'warning' }),
  )
})
