import { describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import {
  domainSharedWithSites,
  isReservedSiteName,
  reservationOf,
  reservedDomains,
  reservedHosts,
} from './reserved-names.ts'

const configOf = (settings: Record<string, string> = {}) => readConfig(settings)
const hoster = configOf({
  STEAD_API_NAME: 'api.eu.hoster.test',
  STEAD_PANEL_URL: 'https://panel.hoster.test:8443',
  STEAD_STAGING_DOMAIN: 'sites.hoster.test',
  STEAD_DNS_NAMESERVERS: 'ns1.hoster.test,ns2.elsewhere.example',
  STEAD_DNS_CATALOG: 'catalog.invalid',
})

describe('reservationOf', () => {
  test.each(['panel.hoster.test', 'api.eu.hoster.test', 'ns1.hoster.test', 'ns2.elsewhere.example'])(
    'returns service for %s',
    (name) => expect(reservationOf(name, hoster)).toBe('service'),
  )
  test.each(['sftp.sites.hoster.test', 'sites.hoster.test', 'catalog.invalid'])('returns service for %s', (name) =>
    expect(reservationOf(name, hoster)).toBe('service'),
  )

  test('returns service for a wildcard that covers a service, and domain for another one', () => {
    for (const name of ['*.hoster.test', '*.eu.hoster.test', '*.elsewhere.example'])
      expect([name, reservationOf(name, hoster)]).toEqual([name, 'service'])
    expect(reservationOf('*.shop.hoster.test', hoster)).toBe('domain')
    expect(reservedHosts(hoster)).toContain('*.hoster.test')
  })

  test.each(['hoster.test', 'www.hoster.test', 'eu.hoster.test', 'x.panel.hoster.test', 'elsewhere.example'])(
    'returns domain for %s',
    (name) => expect(reservationOf(name, hoster)).toBe('domain'),
  )

  test.each(['nothoster.test', 'hoster.test.example', 'test', 'example.com', 'hoster.example'])(
    'returns nothing for %s',
    (name) => expect(reservationOf(name, hoster)).toBeUndefined(),
  )

  test('does not reserve a public suffix, so other names below the suffix of the panel are free', () => {
    const config = configOf({ STEAD_PANEL_URL: 'https://stead.github.io', STEAD_STAGING_DOMAIN: 'hoster.co.uk' })
    expect(reservationOf('other.github.io', config)).toBeUndefined()
    expect(reservationOf('other.co.uk', config)).toBeUndefined()
    expect(reservationOf('www.hoster.co.uk', config)).toBe('domain')
  })

  test("reserves the domain above a sites' domain that is on the public suffix list", () => {
    const config = configOf({ STEAD_STAGING_DOMAIN: 'github.io' })
    expect(reservedDomains(config)).toContain('github.io')
  })

  test('reserves the domains of Stead’s mail addresses, but no single label', () => {
    const config = configOf({ STEAD_MAIL_FROM: 'Stead <stead@post.sender.test>', STEAD_DKIM_DOMAIN: 'signed.test' })
    expect(['post.sender.test', 'sender.test', 'signed.test'].map((name) => reservationOf(name, config))).toEqual([
      'domain',
      'domain',
      'domain',
    ])
    expect(reservedDomains(configOf({ STEAD_MAIL_FROM: 'stead@localhost' }))).not.toContain('localhost')
  })

  test('does not reserve addresses and single labels', () => {
    const config = configOf({ STEAD_PANEL_URL: 'http://127.0.0.1:8080', STEAD_API_LISTEN: '[::1]:8080' })
    expect(reservedDomains(config)).toEqual(['sftp.localhost', 'ns1.localhost', 'ns2.localhost'])
    expect(reservationOf('shop.localhost', config)).toBeUndefined()
  })
})

describe('reservedHosts', () => {
  test('are the services and the names between each one and its registrable domain', () => {
    const above = ['hoster.test', 'eu.hoster.test', 'sites.hoster.test', 'elsewhere.example']
    expect(reservedHosts(hoster)).toEqual(expect.arrayContaining([...above, 'api.eu.hoster.test', 'panel.hoster.test']))
    expect(reservedHosts(hoster)).not.toContain('test')
    expect(reservedHosts(hoster)).not.toContain('www.hoster.test')
  })
})

describe('isReservedSiteName', () => {
  const portal = configOf({ STEAD_API_NAME: 'portal.localhost', STEAD_PANEL_URL: 'https://my.desk.localhost' })

  test.each(['portal', 'desk', 'www', 'sftp', 'ns1'])('holds for %s', (name) =>
    expect(isReservedSiteName(name, portal)).toBe(true),
  )
  test.each(['shop', 'portals', 'my-portal', 'my'])('does not hold for %s', (name) =>
    expect(isReservedSiteName(name, portal)).toBe(false),
  )
  test('does not hold for other names below the registrable domain of the panel', () =>
    expect(isReservedSiteName('shop', hoster)).toBe(false))
})

describe('domainSharedWithSites', () => {
  const shared = (panel: string, sites: string) =>
    domainSharedWithSites(configOf({ STEAD_PANEL_URL: panel, STEAD_STAGING_DOMAIN: sites }))

  test.each([
    ['https://panel.hoster.test', 'sites.hoster.test', 'hoster.test'],
    ['https://panel.hoster.test', 'hoster.test', 'hoster.test'],
    ['https://hoster.test', 'hoster.test', 'hoster.test'],
  ])('of %s and sites below %s is %s', (panel, sites, domain) => expect(shared(panel, sites)).toBe(domain))

  test.each([
    ['https://panel.hoster.test', 'hoster-sites.test'],
    ['http://localhost:8080', 'localhost'],
    ['http://portal.localhost:8080', 'localhost'],
    ['http://127.0.0.1:8080', 'localhost'],
    ['https://panel.github.io', 'github.io'],
    ['https://panel.hoster.co.uk', 'sites.co.uk'],
  ])('does not exist for %s and sites below %s', (panel, sites) => expect(shared(panel, sites)).toBeUndefined())
})
