import { afterEach, describe, expect, test } from 'vitest'
import { page, startCachedSite } from '../cache/test-support.ts'
import { askOn, openSession, startSecureEdge } from '../http2/test-support.ts'
import { ask, createCleanup, routeTo, startGateway, startHost } from '../test-support.ts'
import { cookieForVisitor } from './set-cookie.ts'

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
  ])('passes with %s', (value) => expect(site(value)).toBe(value))

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
  ])('is dropped with %j, which would reach other sites', (value) => expect(site(value)).toBeUndefined())

  test('may have an empty Domain, which counts as none', () => expect(site('a=b; Domain=; Path=/')).toBe('a=b; Path=/'))
})

test('on its own domain may cover all of it, but nothing above the staging domain', () => {
  expect(of('www.shop.test', 'a=b; Domain=shop.test')).toBe('a=b; Domain=shop.test')
  expect(of('www.shop.test', 'a=b; Domain=test')).toBeUndefined()
  expect(of('www.example.com', 'a=b; Domain=example.com')).toBeUndefined()
  expect(of('example.com', 'a=b; Domain=example.com; Path=/')).toBe('a=b; Path=/')
})

describe('a session of the panel', () => {
  test.each([
    'stead_session=x',
    '__Host-stead=x; Path=/; Secure',
    ' stead_session =x',
    'STEAD_SESSION=x',
    '__host-stead=x; Secure; Path=/',
    'stead_session',
    '=stead_session=x',
    ' = stead_session=x',
    'stead_session=; Max-Age=0',
    'stead_session=x; Domain=shop.test',
  ])('cannot be set by a site as %j', (value) => expect(of('www.shop.test', value)).toBeUndefined())

  test.each(['stead_sessions=x', 'my_stead_session=x', 'a=stead_session=x', 'stead-seen=1', '__Host-stead-a=x'])(
    'is not confused with %s',
    (value) => expect(of('www.shop.test', value)).toBe(value),
  )
})

describe('at the edge', () => {
  const cookies = ['own=1; Path=/', 'evil=1; Domain=.staging.test', 'own=2; Domain=one.staging.test']
  const passed = [cookies[0], cookies[2]]

  test('a forwarded answer has no cookie for other sites', async () => {
    const upstream = await startHost(cleanup, (_request, response) => page(response, 'x', { 'set-cookie': cookies }))
    const routes = { 'one.staging.test': routeTo(upstream) }
    const { port } = await startGateway(cleanup, routes, { stagingDomain: 'staging.test' })
    const { headers } = await ask(port, '/', { host: 'one.staging.test' })
    expect(headers['set-cookie']).toEqual(passed)
  })

  const sessions = ['stead_session=evil; Path=/', '__Host-stead=evil; Path=/; Secure', 'own=1']
  const told = 'a=1; stead_session=secret; __Host-stead=secret; b=2'

  test.each(['HTTP/1.1', 'HTTP/2'])('sessions of the panel pass in neither direction over %s', async (protocol) => {
    let asked: string | undefined
    const upstream = await startHost(cleanup, (request, response) => {
      asked = request.headers.cookie
      page(response, 'x', { 'set-cookie': sessions })
    })
    const routes = { 'site.test': routeTo(upstream) }
    if (protocol === 'HTTP/2') {
      const { port } = await startSecureEdge(cleanup, routes)
      const session = await openSession(port, cleanup)
      const { headers } = await askOn(session, { cookie: told.split('; ') })
      expect([asked, headers['set-cookie']]).toEqual(['a=1; b=2', ['own=1']])
      return
    }
    const { port } = await startGateway(cleanup, routes)
    const { headers } = await ask(port, '/', { host: 'site.test', headers: { cookie: told } })
    expect([asked, headers['set-cookie']]).toEqual(['a=1; b=2', ['own=1']])
    await ask(port, '/', { host: 'site.test', headers: { cookie: 'stead_session=secret' } })
    expect(asked).toBeUndefined()
  })

  test('people who are signed in to the panel share pages, and no answer from the cache has a session', async () => {
    const site = await startCachedSite(cleanup, (_request, response) =>
      page(response, 'x', { vary: 'Cookie', 'set-cookie': sessions[0] as string }),
    )
    const first = await site.get('/')
    const again = await site.get('/', { cookie: 'stead_session=secret' })
    expect([first.headers['set-cookie'], again.headers['set-cookie']]).toEqual([undefined, undefined])
    expect(site.asked).toHaveLength(1)
  })

  test('neither has one that was fetched to be stored', async () => {
    const site = await startCachedSite(
      cleanup,
      (_request, response) => page(response, 'x', { 'set-cookie': ['evil=1; Domain=.test', 'own=1'] }),
      { cache: { stagingDomain: 'test' } },
    )
    const { headers } = await site.get('/')
    expect(headers['set-cookie']).toEqual(['own=1'])
  })
})
