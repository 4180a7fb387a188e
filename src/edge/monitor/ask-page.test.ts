import { afterEach, expect, test } from 'vitest'
import { page, startCachedSite } from '../cache/test-support.ts'
import type { AccessEntry } from '../records/access-log.ts'
import { createDefensiveMode } from '../rules/defensive-mode.ts'
import { edgeRules } from '../rules/index.ts'
import { ask, createCleanup, eventually, rawRequest, routeTo, startGateway, startHost } from '../test-support.ts'
import { createPageAsker } from './ask-page.ts'

const KEY = 'key-of-the-host'
const cleanup = createCleanup()
afterEach(() => cleanup.run())

function askerOf(port: number, key = KEY) {
  const asker = createPageAsker(`http://127.0.0.1:${port}`, key)
  cleanup.add(() => asker.close())
  return asker
}

const light = { scheme: 'https', host: 'site.test', look: 'light' } as const

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

test('a stored page answers it, but it stores nothing, and keeps no page fresh', async () => {
  const site = await startCachedSite(cleanup, (_request, response) => page(response, 'hello'))
  const asker = askerOf(site.port)
  const plain = { ...light, scheme: 'http' } as const
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
