import { afterAll, beforeAll, expect, test } from 'vitest'
import { ask, createCleanup, routeTo, startEcho, startGateway } from '../test-support.ts'

const cleanup = createCleanup()
let port: number

beforeAll(async () => {
  const upstream = await startEcho(cleanup)
  const routes = {
    'site.test': routeTo(upstream, { isInMaintenance: true, hasEdgeCache: true }),
    'open.test': routeTo(upstream),
  }
  port = (await startGateway(cleanup, routes)).port
})
afterAll(() => cleanup.run())

test('answers 503 to visitors with a plain page and Retry-After, on every path and method', async () => {
  for (const path of [
    '/',
    '/shop/',
    '/wp-content/plugins/p/entry.php',
    '/wp-json/',
    '/xmlrpc.php',
    '/wp-admina',
    '/?p=1',
    '/a/b/wp-admin/',
    '/stead-database',
    '/shop/stead-database/',
  ]) {
    const { status, headers, body } = await ask(port, path)
    expect([path, status, headers['retry-after'], headers['cache-control']]).toEqual([path, 503, '300', 'no-store'])
    expect(body).toContain('under maintenance')
  }
  expect((await ask(port, '/', { method: 'POST', body: 'a=b' })).status).toBe(503)
  expect((await ask(port, '/', { host: 'open.test' })).status).toBe(200)
})

test('lets the dashboard and the login work, with their files and for the sites of a network', async () => {
  const paths = [
    '/wp-admin',
    '/wp-admin/',
    '/wp-admin/admin-ajax.php?action=heartbeat',
    '/wp-admin/load-styles.php?c=1',
    '/wp-login.php',
    '/wp-login.php?action=logout',
    '/wp-includes/js/jquery/jquery.min.js?ver=3',
    '/wp-content/uploads/2026/01/pic.jpg',
    '/wp-content/plugins/p/admin.css',
    '/second/wp-admin/',
    '/second/wp-login.php',
    '/.well-known/acme-challenge/token',
    '/stead-database/?token=a',
    '/stead-database/',
  ]
  for (const path of paths) expect([path, (await ask(port, path)).status]).toEqual([path, 200])
  expect((await ask(port, '/wp-login.php', { method: 'POST', body: 'log=admin' })).status).toBe(200)
})

test('gives logged-in users the REST API and previews, but not the pages', async () => {
  const headers = { cookie: 'a=b; wordpress_logged_in_0123=admin' }
  for (const path of ['/wp-json/wp/v2/posts', '/?rest_route=/wp/v2/posts', '/?p=1&preview=true'])
    expect([path, (await ask(port, path, { headers })).status]).toEqual([path, 200])
  expect((await ask(port, '/', { headers })).status).toBe(503)
})
