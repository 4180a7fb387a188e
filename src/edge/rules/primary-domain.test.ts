import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, createCleanup, routeTo, startEcho, startGateway } from '../test-support.ts'

const cleanup = createCleanup()
let port: number

beforeAll(async () => {
  const upstream = await startEcho(cleanup)
  const routes = {
    'example.test': routeTo(upstream, { redirectsTo: 'www.example.test' }),
    'www.example.test': routeTo(upstream),
  }
  port = (await startGateway(cleanup, routes)).port
})
afterAll(() => cleanup.run())

test('redirects with 301, keeps path and query exactly, and forbids storing the answer', async () => {
  for (const path of ['/', '/a%2Fb/?q=1&q=2', '//other.test/', '/?', '/wp-admin/']) {
    const { status, headers } = await ask(port, path, { host: 'example.test:8081' })
    const expected = { location: `http://www.example.test:8081${path}`, 'cache-control': 'no-store' }
    expect([status, headers], path).toMatchObject([301, expected])
  }
})

test('redirects a form with 308, so that it keeps its fields', async () => {
  const { status, headers } = await ask(port, '/form', { host: 'example.test:8081', method: 'POST', body: 'a=b' })
  expect([status, headers.location]).toEqual([308, 'http://www.example.test:8081/form'])
})

test('lets the primary domain itself, and challenges of certificate authorities on each domain, pass', async () => {
  expect((await ask(port, '/', { host: 'www.example.test' })).status).toBe(200)
  expect((await ask(port, '/.well-known/acme-challenge/x', { host: 'example.test' })).status).toBe(200)
})
