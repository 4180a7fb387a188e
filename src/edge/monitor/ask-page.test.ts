import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Budget } from '../../platform/budgets/budget.ts'
import { page, startCachedSite } from '../cache/test-support.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { createInFlightLimiter } from '../gateway/in-flight.ts'
import type { AccessEntry } from '../records/access-log.ts'
import { createDefensiveMode } from '../rules/defensive-mode.ts'
import { edgeRules } from '../rules/index.ts'
import {
  ask,
  createCleanup,
  eventually,
  rawRequest,
  routeTo,
  startGateway,
  startHost,
  type TestGateway,
} from '../test-support.ts'
import { createPageAsker } from './ask-page.ts'
import { QUESTION_MS } from './finding.ts'

const KEY = 'key-of-the-host'
const cleanup = createCleanup()
afterEach(() => cleanup.run())

function askerOf(port: number, key = KEY, gateway?: Gateway, now?: () => number) {
  const asker = createPageAsker({ url: `http://127.0.0.1:${port}`, key, gateway }, now)
  cleanup.add(() => asker.close())
  return asker
}

/** An asker whose light questions pass no listener, because that has just answered. */
async function shortAsker({ port, gateway }: TestGateway, now?: () => number) {
  const asker = askerOf(port, KEY, gateway, now)
  await asker.ask({ scheme: 'http', host: 'nobody.test', look: 'page' })
  return asker
}

const light = { scheme: 'https', host: 'site.test', look: 'light' } as const
const plain = { ...light, scheme: 'http' } as const

test('its questions are no visits, and visitors cannot claim to be it', async () => {
  const entries: AccessEntry[] = []
  const looks: unknown[] = []
  const upstream = await startHost(cleanup, ({ headers }, response) => {
    looks.push(headers['x-stead-look'])
    response.setHeader('content-type', 'text/html')
    response.end('hello')
  })
  const { port } = await startGateway(
    cleanup,
    { 'site.test': routeTo(upstream), 'other.test': routeTo(upstream, { siteId: 8 }) },
    { onAccess: (entry) => void entries.push(entry) },
  )
  const asker = askerOf(port)
  // One connection asks for several sites.
  for (const host of ['site.test', 'other.test'])
    for (const look of ['light', 'page', 'wake'] as const)
      expect(await asker.ask({ scheme: 'http', host, look })).toMatchObject({ status: 200, location: undefined })
  expect(looks).toEqual(['light', 'page', 'wake', 'light', 'page', 'wake'])
  await ask(port, '/forged', { headers: { 'x-stead-look': 'light', 'user-agent': 'Stead-Monitor/1 (uptime bot)' } })
  await eventually(() => entries.length > 0)
  expect(entries.map(({ request_url }) => request_url)).toEqual(['/forged'])
  expect(looks.at(-1)).toBeUndefined()
  expect(await askerOf(port, 'another key').ask(light)).toMatchObject({ code: expect.any(String) })
})

test('a redirect is not followed, and a host that ends gives no answer', async () => {
  const upstream = await startHost(cleanup, (request, response) => {
    if (request.headers.host === 'moved.test') response.writeHead(302, { location: 'https://elsewhere.test/' }).end()
    else request.socket.destroy()
  })
  const routes = { 'moved.test': routeTo(upstream), 'dead.test': routeTo(upstream) }
  const { port } = await startGateway(cleanup, routes)
  const asker = askerOf(port)
  const look = { scheme: 'http', look: 'page' } as const
  expect(await asker.ask({ ...look, host: 'moved.test' })).toMatchObject({
    status: 302,
    location: 'https://elsewhere.test/',
  })
  expect(await asker.ask({ ...look, host: 'dead.test' })).toMatchObject({ status: 502 })
})

test.each([
  ['listener', ({ port }: TestGateway) => askerOf(port)],
  ['gateway', (given: TestGateway) => shortAsker(given)],
] as const)('a stored page answers it, but it stores nothing, and keeps no page fresh: %s', async (_, askerFor) => {
  const site = await startCachedSite(cleanup, (_request, response) => page(response, 'hello'))
  const asker = await askerFor(site)
  await asker.ask(plain)
  await asker.ask(plain)
  expect([site.asked.length, site.cache.stats().entries]).toEqual([2, 0])
  await site.get('/')
  expect([site.asked.length, site.cache.stats().entries]).toEqual([3, 1])
  expect(await asker.ask(plain)).toMatchObject({ status: 200 })
  expect(site.asked.length).toBe(3)
  // A page that no cache answers.
  expect(await asker.ask({ ...plain, look: 'page' })).toMatchObject({ status: 200 })
  expect(site.asked.at(-1)?.headers).toMatchObject({ 'x-stead-look': 'page', cookie: 'wordpress_logged_in_stead=1' })
  site.route = { ...site.route, cacheEpoch: 2 }
  await asker.ask(plain)
  expect([site.asked.length, site.asked.at(-1)?.headers['x-stead-look']]).toEqual([5, 'light'])
})

test('gets no challenge of the defensive mode', async () => {
  const upstream = await startHost(cleanup, (_request, response) => response.end('hello'))
  const defended = routeTo(upstream, { hasEdgeCache: true, defensiveUntilMs: Date.now() + 3_600_000 })
  const defensiveMode = createDefensiveMode({
    key: Buffer.alloc(32, 7),
    isKnownBot: () => false,
    isStoredFile: () => false,
  })
  const { port } = await startGateway(cleanup, { 'site.test': defended }, { rules: edgeRules({ defensiveMode }) })
  const asker = askerOf(port)
  expect(await asker.ask(light)).toMatchObject({ status: 200 })
  expect(await rawRequest(port, cleanup, 'GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n')).toContain(
    '503',
  )
})

describe('a light question', () => {
  let now = 0
  const clock = () => now
  beforeEach(() => {
    now = 0
  })

  /** A site, the requests to its host, and how many pass the listener. */
  async function startSite(listener: RequestListener = (_request, response) => response.writeHead(204).end()) {
    const asked: IncomingMessage[] = []
    const entries: AccessEntry[] = []
    const upstream = await startHost(cleanup, (request, response) => {
      asked.push(request)
      listener(request, response)
    })
    const routes = {
      'site.test': routeTo(upstream),
      'closed.test': routeTo(upstream, { isClosed: true }),
      'old.test': routeTo(upstream, { redirectsTo: 'site.test' }),
    }
    const made = await startGateway(cleanup, routes, { onAccess: (entry) => void entries.push(entry) })
    const site = { ...made, asked, entries, passed: 0 }
    made.gateway.server.on('request', () => site.passed++)
    return site
  }

  test('passes no listener that has just answered, but the same rules, and is no visit', async () => {
    const site = await startSite()
    const asker = await shortAsker(site, clock)
    expect(site.passed).toBe(1)
    expect(await asker.ask(light)).toEqual({ status: 204, location: undefined, ms: 0 })
    expect(await asker.ask({ ...light, host: 'closed.test' })).toMatchObject({ status: 503 })
    expect(await asker.ask({ ...light, host: 'nobody.test' })).toMatchObject({ status: 404 })
    expect(await asker.ask({ ...light, host: 'old.test:8080' })).toMatchObject({
      status: 301,
      location: 'https://site.test:8080/',
    })
    expect([site.passed, site.asked.length, site.entries.length]).toEqual([1, 1, 0])
    expect(site.asked[0]).toMatchObject({
      method: 'HEAD',
      url: '/',
      headers: {
        ...{ host: 'site.test', 'x-stead-look': 'light', 'x-stead-site': '7', 'x-stead-key': KEY },
        ...{ 'x-forwarded-for': '127.0.0.1', 'x-forwarded-proto': 'https', 'x-stead-peer': '127.0.0.1 0' },
      },
    })
  })

  test('passes the listener again when that has not answered for five seconds', async () => {
    const site = await startSite()
    const asker = await shortAsker(site, clock)
    now = 4_999
    await asker.ask(light)
    expect(site.passed).toBe(1)
    now = 5_000
    await asker.ask(light)
    expect(site.passed).toBe(2)
    now = 9_999
    await asker.ask(light)
    expect(site.passed).toBe(2)
    await asker.ask({ ...light, look: 'page' })
    await asker.ask({ ...light, look: 'wake' })
    expect(site.passed).toBe(4)
  })

  test('passes the listener after that has failed', async () => {
    const site = await startSite()
    const asker = await shortAsker(site, clock)
    site.gateway.server.close()
    site.gateway.server.closeAllConnections()
    expect(await asker.ask(light)).toMatchObject({ status: 204 })
    expect(await asker.ask({ ...light, look: 'page' })).toEqual({ code: 'ECONNREFUSED' })
    expect(await asker.ask(light)).toEqual({ code: 'ECONNREFUSED' })
    const never = askerOf(1, KEY, site.gateway, clock)
    expect(await never.ask(light)).toEqual({ code: 'ECONNREFUSED' })
  })

  test('ends without an answer in time, and with it the request to the host', async () => {
    const gone: unknown[] = []
    const site = await startSite((request, response) => void response.on('close', () => gone.push(request.url)))
    const asker = await shortAsker(site, clock)
    const answer = asker.ask(light)
    await eventually(() => site.asked.length > 0)
    now = QUESTION_MS
    asker.look()
    expect(gone).toEqual([])
    now = QUESTION_MS + 1
    asker.look()
    expect(await answer).toEqual({ code: 'HOST_ABORTED' })
    await eventually(() => gone.length > 0)
  })

  test('gets no answer from a host that breaks off, or a gateway that closes', async () => {
    const site = await startSite((request) => request.socket.destroy())
    const asker = await shortAsker(site, clock)
    expect(await asker.ask(light)).toMatchObject({ status: 502 })
    site.gateway.server.closeAllConnections()
    await site.gateway.close()
    expect(await asker.ask(light)).toEqual({ code: 'HOST_ABORTED' })
  })
})

test('questions to many sites at once do not compete for the requests of one visitor', async () => {
  const waiting: ServerResponse[] = []
  const upstream = await startHost(cleanup, (_request, response) => void waiting.push(response))
  const hosts = ['one.test', 'two.test', 'three.test']
  const routes = Object.fromEntries(hosts.map((host, at) => [host, routeTo(upstream, { siteId: at + 1 })]))
  const budget = () =>
    new Budget({ ...{ name: '', what: '', of: 'count', whose: 'address', over: '' }, each: 1, all: 10 } as const)
  const inFlight = createInFlightLimiter({ bySite: budget(), byAddress: budget() })
  const { port } = await startGateway(cleanup, routes, { inFlight })
  const asker = askerOf(port)
  const answers = hosts.map((host) => asker.ask({ ...plain, host }))
  await eventually(() => waiting.length === 3)
  for (const response of waiting) response.writeHead(204).end()
  expect(await Promise.all(answers)).toMatchObject([{ status: 204 }, { status: 204 }, { status: 204 }])
})
