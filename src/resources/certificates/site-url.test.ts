import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Person, type TestApi, testApi } from '../../../test/support/api.ts'
import { readConfig } from '../../config.ts'
import { changeName } from './certificate.store.ts'
import { wantCertificate } from './certificate.ts'
import { siteUrl } from './site-url.ts'

const now = Date.UTC(2026, 0, 1)

describe('the URL of a site', () => {
  let api: TestApi
  let owner: Person
  beforeAll(async () => {
    api = await testApi('sqlite')
    owner = await api.person('owner@example.com')
    const siteId = await api.site(owner, 'shop')
    await api.database.transaction((tx) => wantCertificate(tx, { hostName: 'www.shop.test', siteId, now }))
  })
  afterAll(() => api?.close())

  const site = { name: 'shop', primaryDomain: 'www.shop.test' }
  const url = (settings: Record<string, string>, of: { name: string; primaryDomain: string | null } = site) =>
    siteUrl(api.database.read, of, { config: readConfig({ STEAD_EDGE_LISTEN: '0.0.0.0:80', ...settings }), now })
  const issued = (expiresAt: number) =>
    api.database.transaction((tx) =>
      tx.updateTable('certificates').set({ chain: 'chain', expires_at: expiresAt }).execute(),
    )

  test('is http without a certificate, or without TLS', async () => {
    expect(await url({ STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443' })).toBe('http://www.shop.test')
    await issued(now + 1000)
    expect(await url({})).toBe('http://www.shop.test')
  })

  test('is https while the certificate of the primary domain is valid', async () => {
    await issued(now + 1000)
    expect(await url({ STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443' })).toBe('https://www.shop.test')
    expect(await url({ STEAD_EDGE_TLS_LISTEN: '0.0.0.0:8443' })).toBe('https://www.shop.test:8443')
    expect(await url({ STEAD_EDGE_TLS_LISTEN: '0.0.0.0:8443', STEAD_EDGE_TLS_PUBLIC_PORT: '443' })).toBe(
      'https://www.shop.test',
    )
    expect(await url({ STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443' }, { ...site, primaryDomain: null })).toBe(
      'http://shop.localhost',
    )
    await issued(now)
    expect(await url({ STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443' })).toBe('http://www.shop.test')
  })

  test('is https while the first address has a certificate of its own', async () => {
    const settings = { STEAD_EDGE_TLS_LISTEN: '0.0.0.0:443', STEAD_STAGING_DOMAIN: 'sites.example' }
    const first = { name: 'shop', primaryDomain: null }
    expect(await url(settings, first)).toBe('http://shop.sites.example')
    await api.database.transaction(async (tx) => {
      await wantCertificate(tx, { hostName: 'shop.sites.example', siteId: 1, now })
      await changeName(tx, 'shop.sites.example', { chain: 'chain', expires_at: now + 1000 })
    })
    expect(await url(settings, first)).toBe('https://shop.sites.example')
  })

  test('is https if TLS ends before the edge', async () => {
    expect(await url({ STEAD_EDGE_PUBLIC_PORT: '443' })).toBe('https://www.shop.test')
  })
})
