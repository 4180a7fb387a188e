import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, createCleanup, routeTo, startEcho, startGateway } from '../test-support.ts'

const cleanup = createCleanup()
let port: number

beforeAll(async () => {
  const upstream = await startEcho(cleanup)
  const routes = { 'site.test': routeTo(upstream, { isClosed: true }), 'open.test': routeTo(upstream) }
  port = (await startGateway(cleanup, routes)).port
})
afterAll(() => cleanup.run())

test('answers 503 on a site that is being worked on, even to its owner', async () => {
  const headers = { cookie: 'wordpress_logged_in_0123=admin' }
  for (const path of [
    '/',
    '/wp-admin/',
    '/wp-login.php',
    '/wp-json/wp/v2/posts',
    '/wp-cron.php?doing_wp_cron',
    '/wp-content/uploads/a.jpg',
  ]) {
    const { status, headers: got, body } = await ask(port, path, { headers })
    expect([path, status, got['retry-after'], got['cache-control']]).toEqual([path, 503, '60', 'no-store'])
    expect(body).toContain('Maintenance work is in progress')
  }
  expect((await ask(port, '/wp-login.php', { method: 'POST', body: 'log=admin' })).status).toBe(503)
})

test('lets other sites and the tokens of certificate authorities pass', async () => {
  expect((await ask(port, '/', { host: 'open.test' })).status).toBe(200)
  expect((await ask(port, '/.well-known/acme-challenge/token')).status).toBe(200)
})
