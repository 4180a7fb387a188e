/** A site that is no longer on the host that an edge knows. */
import type { RequestListener } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { page, startCachedSite } from '../cache/test-support.ts'
import { ask, createCleanup, routeTo, startGateway, startHost } from '../test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const elsewhere: RequestListener = (request, response) => {
  request.resume()
  response.writeHead(421, { 'x-stead-elsewhere': '1', 'cache-control': 'public, max-age=600' }).end('not here')
}

/** @param found what the edge finds when it looks again */
async function edgeBefore(found: (old: string, other: string) => Promise<ReturnType<typeof routeTo> | undefined>) {
  const seen: (string | undefined)[] = []
  const old = await startHost(cleanup, elsewhere)
  const other = await startHost(cleanup, (request, response) => {
    seen.push(request.headers['x-stead-place'] as string | undefined)
    response.end('here')
  })
  const routes = { find: () => routeTo(old, { place: 3 }), lookAgain: () => found(old, other) }
  const { port } = await startGateway(cleanup, {}, { routes })
  return { port, seen }
}

test('a read follows the site to its new host, with its new place', async () => {
  const { port, seen } = await edgeBefore(async (_old, other) => routeTo(other, { place: 9 }))
  const reply = await ask(port, '/', { headers: { host: 'site.test' } })
  expect([reply.status, reply.body, seen]).toEqual([200, 'here', ['9']])
})

test.each([
  ['a write, which may have begun', 'POST', async (_old: string, other: string) => routeTo(other, { place: 9 })],
  ['a site that is still where it was', 'GET', async (old: string) => routeTo(old, { place: 3 })],
  ['a site that two hosts deny', 'GET', async (old: string) => routeTo(old, { place: 4 })],
  ['a site that is gone', 'GET', async () => undefined],
  ['an edge without the database', 'GET', async () => Promise.reject(new Error('away'))],
])('%s gets 503 and a time to retry', async (_what, method, found) => {
  const { port } = await edgeBefore(found)
  const body = method === 'POST' ? { body: 'x' } : {}
  const reply = await ask(port, '/', { method, headers: { host: 'site.test' }, ...body })
  expect([reply.status, reply.headers['retry-after']]).toEqual([503, '2'])
  expect(reply.raw.join()).not.toContain('elsewhere')
})

test('the answer is never stored, and the page of the new host is', async () => {
  const site = await startCachedSite(cleanup, elsewhere)
  expect((await site.get('/')).status).toBe(503)
  const other = await startHost(cleanup, (_request, response) => page(response, 'here'))
  site.route = { ...site.route, upstream: other }
  expect((await site.get('/')).body).toBe('here')
})
