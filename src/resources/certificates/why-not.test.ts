import { expect, test } from 'vitest'
import { testApi } from '../../../test/support/api.ts'
import { putDomainRoute, putRoute } from '../sites/addresses/route.store.ts'
import { whyNot } from './why-not.ts'

test('orders no certificate for a name of the installation that a customer got before a setting reserved it', async (context) => {
  const settings = {
    STEAD_PANEL_URL: 'https://panel.hoster.test',
    STEAD_EDGE_TLS_LISTEN: '127.0.0.1:8443',
    STEAD_ACME_TERMS_AGREED: 'true',
    STEAD_STAGING_DOMAIN: 'sites.hoster.test',
  }
  const api = await testApi('sqlite', { settings })
  context.onTestFinished(() => api.close())
  const [operator, tenant] = [await api.person('operator@example.com'), await api.person('tenant@example.com')]
  const [ofOperator, ofTenant] = [await api.site(operator, 'own'), await api.site(tenant, 'rented')]
  await api.database.transaction(async (tx) => {
    for (const name of ['www.hoster.test', 'panel.hoster.test']) await putDomainRoute(tx, ofTenant, name, 1)
    await putRoute(tx, ofTenant, 'rented.sites.hoster.test', 1)
    await putDomainRoute(tx, ofOperator, 'hoster.test', 1)
  })
  const reason = (hostName: string) => whyNot(api, hostName)
  for (const name of ['www.hoster.test', 'panel.hoster.test'])
    expect(await reason(name)).toContain('belongs to this installation')
  // For these, only the DNS is an obstacle.
  for (const name of ['hoster.test', 'rented.sites.hoster.test'])
    expect(await reason(name)).toContain('cannot be looked up')
})
