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

test('301: path and query are kept to the letter, and nobody keeps the answer', async () => {
  for (const path of ['/', '/a%2Fb/?q=1&q=2', '//other.test/', '/?', '/wp-admin/']) {
    const { status, headers } = await ask(port, path, { host: 'example.test:8081' })
    const expected = { location: `http://www.example.test:8081${path}`, 'cache-control': 'no-store' }
    expect([status, headers], path).toMatchObject([301, expected])
  }
})

test('308: a form takes its fields along', async () => {
  const { status, headers } = await ask(port, '/form', { host: 'example.test:8081', method: 'POST', body: 'a=b' })
  expect([status, headers.location]).toEqual([308, 'http://www.example.test:8081/form'])
})

test('200: the primary domain itself, and challenges of certificate authorities on each', async () => {
  expect((await ask(port, '/', { host: 'www.example.test' })).status).toBe(200)
  expect((await ask(port, '/.well-known/acme-challenge/x', { host: 'example.test' })).status).toBe(200)
})
