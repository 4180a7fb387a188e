/** What one site and one visitor may use of an edge's connections, in both directions. */

import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { budgetOf } from '../../test/support/budget.ts'
import { page, startCachedSite } from './cache/test-support.ts'
import { createInFlightLimiter } from './gateway/in-flight.ts'
import {
  ask,
  createCleanup,
  eventually,
  rawConnect,
  routeTo,
  startEcho,
  startGateway,
  startHost,
} from './test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const budget = (each: number) => budgetOf(1_000, each)

test('limits the connections of a visitor, answers further ones, and admits others', async () => {
  const upstream = await startEcho(cleanup)
  const connections = budget(3)
  const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { connections })
  const own = await Promise.all([1, 2, 3].map(() => rawConnect(port, cleanup)))
  const fourth = await rawConnect(port, cleanup)
  expect(await fourth.closed()).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 5\r\n/)
  const other = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' })
  cleanup.add(() => other.destroy())
  await once(other, 'connect')
  other.write('GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n')
  const [first] = (await once(other, 'data')) as [Buffer]
  expect(first.toString()).toMatch(/^HTTP\/1\.1 200/)
  own[0]?.socket.destroy()
  await eventually(() => connections.usedBy('127.0.0.1') < 3)
  expect((await ask(port)).status).toBe(200)
})

test('gives a trusted proxy as many connections as it needs', async () => {
  const upstream = await startEcho(cleanup)
  const more = { connections: budget(1), trustProxy: ['127.0.0.1'] }
  const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, more)
  await rawConnect(port, cleanup)
  await rawConnect(port, cleanup)
  expect((await ask(port)).status).toBe(200)
})

/** Starts a host that answers one site on command. */
async function startSlow() {
  const held: (() => void)[] = []
  const upstream = await startHost(cleanup, (request, response) => {
    if (request.headers['x-stead-site'] === '7') held.push(() => page(response, 'late'))
    else page(response, 'at once')
  })
  return { upstream, held }
}

test('gives a slow site its share of the requests in flight, answers 503 with Retry-After beyond it, and serves others', async () => {
  const { upstream, held } = await startSlow()
  const bySite = budget(4)
  const routes = { 'site.test': routeTo(upstream), 'other.test': routeTo(upstream, { siteId: 8 }) }
  const { port } = await startGateway(cleanup, routes, {
    inFlight: createInFlightLimiter({ bySite, byAddress: budget(1_000) }),
  })
  const waiting = Array.from({ length: 4 }, () => ask(port))
  await eventually(() => held.length === 4)
  const over = await ask(port, '/', { method: 'POST', body: 'x'.repeat(10_000) })
  expect([over.status, over.headers['retry-after']]).toEqual([503, '5'])
  expect((await ask(port, '/', { host: 'other.test' })).body).toBe('at once')
  for (const answer of held) answer()
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200, 200])
  await eventually(() => bySite.used === 0)
})

test("counts the cache's own requests, and ends them", async () => {
  const bySite = budget(2)
  const answers: (() => void)[] = []
  const site = await startCachedSite(cleanup, (_request, response) => void answers.push(() => page(response, 'new')), {
    cache: { inFlight: createInFlightLimiter({ bySite, byAddress: budget(1_000) }) },
  })
  const led = [site.get('/a/'), site.get('/b/')]
  await eventually(() => answers.length === 2)
  expect((await site.get('/c/')).status).toBe(503)
  expect((await site.get('/c/', {}, 'HEAD')).status).toBe(503)
  for (const answer of answers) answer()
  expect((await Promise.all(led)).map(({ body }) => body)).toEqual(['new', 'new'])
  await eventually(() => bySite.used === 0)
  expect((await site.get('/a/')).body).toBe('new')
})
