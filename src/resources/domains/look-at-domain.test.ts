import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { lookAtDomain } from './look-at-domain.ts'
import { EDGE_KEY, type Outside, startOutside } from './outside.fixture.ts'

let outside: Outside
let zone: Outside['zone']
let edge: Outside['edge']

beforeEach(async () => {
  outside = await startOutside()
  zone = outside.zone
  edge = outside.edge
})
afterEach(() => outside.close())

const look = (name: string, more: Record<string, string> = {}) =>
  lookAtDomain(name, readConfig({ ...outside.settings, STEAD_EDGE_ADDRESSES: '192.0.2.1,192.0.2.2', ...more }))
const wanted = '192.0.2.1, 192.0.2.2'

describe('a check of a domain', () => {
  test('finds no fault if it leads here and the edge knows it, without requesting a page', async () => {
    Object.assign(zone, { 'www.a.test': ['192.0.2.2', '192.0.2.1'] })
    edge['www.a.test'] = 405
    expect(await look('www.a.test')).toEqual({
      ...{ isDnsConfirmed: true, isProvisioned: true, isHealthy: true },
      reason: null,
    })
    expect(outside.asked).toEqual(['TRACE www.a.test'])
  })

  test('tells the edge that Stead asks, and for which site', async () => {
    Object.assign(zone, { 'www.a.test': ['192.0.2.2'] })
    edge['www.a.test'] = 405
    const config = readConfig({ ...outside.settings, STEAD_EDGE_ADDRESSES: '192.0.2.2' })
    const asker = { edgeKey: EDGE_KEY, siteId: 7 }
    const seen = await lookAtDomain('www.a.test', config, undefined, Date.now(), undefined, asker)
    expect(seen).toMatchObject({ isHealthy: true })
    expect(outside.looked).toEqual([7])
  })

  test('checks a wildcard with one of the names that it covers', async () => {
    zone['stead-check.a.test'] = ['192.0.2.1']
    edge['stead-check.a.test'] = 405
    expect(await look('*.a.test')).toMatchObject({ isHealthy: true })
    expect(outside.asked).toEqual(['TRACE stead-check.a.test'])
  })

  test('accepts one of the edge’s addresses, but not with a foreign one', async () => {
    Object.assign(zone, { 'one.test': ['192.0.2.1'], 'mixed.test': ['192.0.2.1', '203.0.113.9'] })
    Object.assign(edge, { 'one.test': 301, 'mixed.test': 405 })
    expect(await look('one.test')).toMatchObject({ isHealthy: true })
    expect(await look('mixed.test')).toEqual({
      ...{ isDnsConfirmed: false, isProvisioned: true, isHealthy: false },
      reason: `mixed.test points to 203.0.113.9 in the DNS, but must only point to ${wanted}`,
    })
  })

  test('accepts a name behind a CDN if requests to it arrive here', async () => {
    zone['cdn.test'] = ['203.0.113.9']
    edge['cdn.test'] = 405
    const config = readConfig({ ...outside.settings, STEAD_EDGE_ADDRESSES: '192.0.2.1' })
    const seen = (comesBack: boolean) => lookAtDomain('cdn.test', config, undefined, Date.now(), async () => comesBack)
    expect(await seen(true)).toMatchObject({ isDnsConfirmed: true, isHealthy: true })
    expect(await seen(false)).toMatchObject({
      isDnsConfirmed: false,
      reason:
        'cdn.test points to 203.0.113.9 in the DNS, but must only point to 192.0.2.1, ' +
        'or to a proxy that forwards requests for http://cdn.test to Stead; its current target does not',
    })
  })

  test('finds an unregistered name, and one that the edge does not know', async () => {
    expect(await look('none.test')).toEqual({
      ...{ isDnsConfirmed: false, isProvisioned: false, isHealthy: false },
      reason: `none.test has no address in the DNS; it must be one of ${wanted}; the edge does not know it yet`,
    })
  })

  test('finds a site that is off or cannot be reached', async () => {
    Object.assign(zone, { 'off.test': ['192.0.2.1'], 'broken.test': ['192.0.2.1'] })
    Object.assign(edge, { 'off.test': 480, 'broken.test': 503 })
    expect(await look('off.test')).toMatchObject({ isProvisioned: true, isHealthy: true })
    expect(await look('broken.test')).toMatchObject({
      ...{ isProvisioned: true, isHealthy: false },
      reason: 'the site responds with 503',
    })
  })

  test('finds an expired certificate, and accepts a valid or missing one', async () => {
    Object.assign(zone, { 'a.test': ['192.0.2.1'] })
    Object.assign(edge, { 'a.test': 405 })
    const config = readConfig({ ...outside.settings, STEAD_EDGE_ADDRESSES: '192.0.2.1' })
    const now = Date.UTC(2026, 0, 2)
    const certificate = {
      ...{ orderUrl: null, authzUrl: null, validationExpiresAt: null, forceTls: false, reasonAt: 1 },
      ...{ expiresAt: now, isIssued: true, reason: 'The authority is away' },
    }
    expect(await lookAtDomain('a.test', config, certificate, now)).toEqual({
      ...{ isDnsConfirmed: true, isProvisioned: true, isHealthy: false },
      reason: 'its certificate expired at 2026-01-02T00:00:00.000Z, and Stead has no newer one: The authority is away',
    })
    for (const fine of [{ expiresAt: now + 1 }, { isIssued: false, expiresAt: null }])
      expect(await lookAtDomain('a.test', config, { ...certificate, ...fine }, now)).toMatchObject({ isHealthy: true })
  })

  test('finds an edge that is away', async () => {
    Object.assign(zone, { 'a.test': ['192.0.2.1'] })
    await outside.closeEdge()
    const seen = await look('a.test', { STEAD_EDGE_LISTEN: `0.0.0.0:${outside.edgePort}` })
    expect(seen).toMatchObject({ isDnsConfirmed: true, isProvisioned: false, isHealthy: false })
    expect(seen.reason).toContain('the edge does not respond')
  })
})
