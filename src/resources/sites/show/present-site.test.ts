import { expect, test } from 'vitest'
import { readConfig } from '../../../config.ts'
import type { ListedSite } from '../site.ts'
import { presentSite, presentSiteWithAddresses } from './present-site.ts'

const NOW = 1_800_000_000_000
const config = readConfig({
  STEAD_DATACENTERS: 'AA=One,BB=Two',
  STEAD_EDGE_ADDRESSES: '192.0.2.1,192.0.2.2',
  STEAD_EDGE_PUBLIC_PORT: '8081',
})
const plain: ListedSite = {
  ...{ id: 7, accountId: 3, clonedFromId: null, name: 'shop', displayName: 'The Shop', state: 'live' },
  ...{ createdAt: 1000, datacenterCode: 'BB', phpVersion: '8.3', install: 'wordpress', environmentType: 'production' },
  ...{ coreVersion: '6.8', coreChannel: 'stable', hasEdgeCache: true, defensiveUntil: null },
  ...{ isStaging: false, hasLight404: false, hasMultisite: false },
  ...{ domainsCount: 2, collaboratorsCount: 5, isFavorite: false, tags: [] },
} as unknown as ListedSite

test('presents a site with the usual values', () => {
  expect(presentSite(plain, config, NOW)).toEqual({
    ...{ id: 7, accountId: 3, clonedFromId: null, name: 'shop', displayName: 'The Shop', state: 'live' },
    ...{ created: '1970-01-01T00:00:01.000Z', datacenterCode: 'BB', datacenterName: 'Two', phpVersion: '8.3' },
    ...{ url: 'shop.localhost:8081', cmsVersion: 'Current Stable Release (6.8)', wpEnvironmentType: 'production' },
    ...{ edgeCache: 'enabled', edgeCacheDefensiveMode: false, edgeCacheDefensiveModeUntil: null },
    ...{ ecommerce: false, favorite: false, staging: false, lightWeight404: false, multisiteSupport: false },
    ...{ collaboratorsCount: 5, domainsCount: 2, tags: [], sftpDomain: expect.any(String) },
    ...{ ipAddress: '192.0.2.1', ipAddressOne: '192.0.2.1', ipAddressTwo: '192.0.2.2' },
  })
})

test('presents a site with other values everywhere', () => {
  const other = {
    ...plain,
    ...{ clonedFromId: 6, datacenterCode: 'CC', install: 'woocommerce', coreChannel: 'beta', coreVersion: '7.0-beta1' },
    ...{ hasEdgeCache: false, isStaging: true, hasLight404: true, hasMultisite: true, isFavorite: true },
    tags: [{ id: 1, name: 'shop' }],
  } as ListedSite
  expect(presentSite(other, config, NOW)).toMatchObject({
    ...{ clonedFromId: 6, datacenterName: 'N/A', ecommerce: true, cmsVersion: 'Latest Release (Beta) (7.0-beta1)' },
    ...{ edgeCache: 'disabled', staging: true, lightWeight404: true, multisiteSupport: true, favorite: true },
    tags: [{ id: 1, name: 'shop' }],
  })
  const unborn = { ...plain, coreVersion: null } as unknown as ListedSite
  expect(presentSite(unborn, config, NOW).cmsVersion).toBe('Current Stable Release')
})

test('challenges visitors until a time in seconds, exclusive', () => {
  const until = (defensiveUntil: number) => {
    const { edgeCacheDefensiveMode, edgeCacheDefensiveModeUntil } = presentSite(
      { ...plain, defensiveUntil },
      config,
      NOW,
    )
    return [edgeCacheDefensiveMode, edgeCacheDefensiveModeUntil]
  }
  expect([until(NOW + 1999), until(NOW), until(NOW - 1)]).toEqual([
    [true, NOW / 1000 + 1],
    [false, null],
    [false, null],
  ])
})

test('repeats a single edge address in both fields, and lists it once', () => {
  const single = readConfig({ STEAD_EDGE_ADDRESSES: '192.0.2.1' })
  expect(presentSite(plain, single, NOW)).toMatchObject({ ipAddressOne: '192.0.2.1', ipAddressTwo: '192.0.2.1' })
  expect(presentSiteWithAddresses(plain, single, NOW).ipAddresses).toEqual(['192.0.2.1'])
  expect(presentSiteWithAddresses(plain, config, NOW).ipAddresses).toEqual(['192.0.2.1', '192.0.2.2'])
})
