import { afterEach, describe, expect, test } from 'vitest'
import { page, startCachedSite } from './cache/test-support.ts'
import { cookieForVisitor } from './set-cookie.ts'
import { ask, createCleanup, routeTo, startGateway, startHost } from './test-support.ts'

const of = (hostName: string, value: string) =>
  cookieForVisitor(value, { hostName, stagingDomain: 'sites.example.com' })
const cleanup = createCleanup()
afterEach(() => cleanup.run())

describe('a cookie of a site below the staging domain', () => {
  const site = (value: string) => of('shop.sites.example.com', value)

  test.each([
    'a=b',
    'a=b; Path=/; HttpOnly',
    'a=b; Domain=shop.sites.example.com',
    'a=b; domain=.Shop.Sites.example.com; Path=/',
    'a=domain; Path=/',
  ])('%s is its own affair', (value) => expect(site(value)).toBe(value))

  test.each([
    'a=b; Domain=sites.example.com',
    'a=b; domain=.SITES.example.com',
    'a=b;DOMAIN =  .sites.example.com ; Path=/',
    'a=b; Domain=sites.example.com.',
    'a=b; Domain=example.com',
    'a=b; Domain=com',
    'a=b; Domain=shop.sites.example.com; Domain=sites.example.com',
    'a=b; Domain=sites.example.com; Domain=shop.sites.example.com',
    'a=b; Domain=sites%2Eexample.com',
    'a=b; Domain=sites\uff0eexample.com',
    'a=b; Domain=other.sites.example.com',
    'a=b; Domain=op.sites.example.com',
    'a=b; Domain\t=\tsites.example.com',
    'a=b; Domain=\n sites.example.com',
  ])('%j would reach other sites, and is left out', (value) => expect(site(value)).toBeUndefined())

  test('an empty Domain is none', () => expect(site('a=b; Domain=; Path=/')).toBe('a=b; Path=/'))
})

test('a domain of its own may have cookies for all of it, but not for what is above the staging domain', () => {
  expect(of('www.shop.test', 'a=b; Domain=shop.test')).toBe('a=b; Domain=shop.test')
  expect(of('www.shop.test', 'a=b; Domain=test')).toBeUndefined()
  expect(of('www.example.com', 'a=b; Domain=example.com')).toBeUndefined()
  expect(of('example.com', 'a=b; Domain=example.com; Path=/')).toBe('a=b; Path=/')
})

describe('at the edge', () => {
  const cookies = ['own=1; Path=/', 'evil=1; Domain=.staging.test', 'own=2; Domain=one.staging.test']
  const passed = [cookies[0], cookies[2]]

  test('an answer that is passed on has no cookie for other sites', async () => {
    const upstream = await startHost(cleanup, (_request, response) => page(response, 'x', { 'set-cookie': cookies }))
    const routes = { 'one.staging.test': routeTo(upstream) }
    const { port } = await startGateway(cleanup, routes, { stagingDomain: 'staging.test' })
    const { headers } = await ask(port, '/', { host: 'one.staging.test' })
    expect(headers['set-cookie']).toEqual(passed)
  })

  test('nor has one that was fetched to be kept', async () => {
    const site = await startCachedSite(
      cleanup,
      (_request, response) => page(response, 'x', { 'set-cookie': ['evil=1; Domain=.test', 'own=1'] }),
      { cache: { stagingDomain: 'test' } },
    )
    const { headers } = await site.get('/')
    expect(headers['set-cookie']).toEqual(['own=1'])
  })
})
