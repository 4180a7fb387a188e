import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ask,
  type Cleanup,
  createCleanup,
  rawRequest,
  routeTo,
  silent,
  startEcho,
  startGateway,
  startHost,
} from '../test-support.ts'
import { createGateway } from './gateway.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

describe('routing', () => {
  test("passes requests to the site's host, with key, site, address, and request ID", async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) })
    const reply = await ask(port, '/a%20b/?q=%2F..&x=ü'.replace('ü', '%C3%BC'))
    expect(reply.status).toBe(200)
    const seen = JSON.parse(reply.body)
    expect(seen.url).toBe('/a%20b/?q=%2F..&x=%C3%BC')
    expect(seen.headers).toMatchObject({
      host: 'site.test',
      'x-stead-site': '7',
      'x-stead-key': 'key-of-the-host',
      'x-forwarded-for': '127.0.0.1',
      'x-forwarded-proto': 'http',
      'x-forwarded-host': 'site.test',
      'x-request-id': reply.headers['x-request-id'],
    })
    expect(reply.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('works over IPv6 alone, from the visitor to the host', async () => {
    const host = createServer((request, response) => response.end(`${request.headers['x-forwarded-for']}`))
    const { server, close } = createGateway({
      routes: { find: () => routeTo(`http://[::1]:${(host.address() as AddressInfo).port}`) },
      ...{ log: silent, hostKey: 'key' },
    })
    for (const each of [host, server]) await once(each.listen(0, '::1'), 'listening')
    cleanup.add(async () => {
      server.closeAllConnections()
      await close()
      host.closeAllConnections()
      host.close()
    })
    const answer = await fetch(`http://[::1]:${(server.address() as AddressInfo).port}/`)
    expect([answer.status, await answer.text()]).toEqual([200, '::1'])
  })

  test('accepts a host name in capitals, with port and trailing dot', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) })
    const reply = await ask(port, '/', { host: `SITE.Test.:${port}` })
    expect(JSON.parse(reply.body).headers.host).toBe(`site.test:${port}`)
  })

  test('accepts an absolute-form target, whose host overrules Host', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) })
    const text = await rawRequest(
      port,
      cleanup,
      'GET http://Site.test:81/p?q HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n',
    )
    expect(text).toContain('"url":"/p?q"')
    expect(text).toContain('"host":"site.test:81"')
  })

  test('answers 404 for unknown hosts, in the accepted format', async () => {
    const { port } = await startGateway(cleanup, {})
    const html = await ask(port, '/', { host: 'nobody.test' })
    expect(html.status).toBe(404)
    expect(html.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
    expect(html.headers['x-request-id']).toBeTruthy()
    expect(html.body).toContain('<h1>')
    expect(html.body).not.toMatch(/https?:/)
    const json = await ask(port, '/', { host: 'nobody.test', headers: { accept: 'application/json' } })
    expect(JSON.parse(json.body)).toMatchObject({ status: 404 })
    const image = await ask(port, '/', { host: 'nobody.test', headers: { accept: 'image/webp' } })
    expect(image.headers['content-type']).toBe('text/plain; charset=utf-8')
    const head = await ask(port, '/', { host: 'nobody.test', method: 'HEAD' })
    expect([head.status, head.body, Number(head.headers['content-length']) > 0]).toEqual([404, '', true])
  })

  test('answers 400 for an invalid Host', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo('http://127.0.0.1:1') })
    for (const host of ['site test', 'site.test:99999', 'a..b', '-', 'user@site.test', '/'])
      expect((await ask(port, '/', { host })).status, host).toBe(400)
    for (const lines of ['', 'Host:\r\n', 'Host: site.test\r\nHost: site.test\r\n'])
      expect(await rawRequest(port, cleanup, `GET / HTTP/1.1\r\n${lines}\r\n`)).toMatch(
        /^HTTP\/1.1 400 [\s\S]*X-Request-Id/,
      )
  })

  test('answers 480 on every path of a disabled site, and a 503 page that reloads itself while a site is prepared', async () => {
    const { port } = await startGateway(cleanup, {
      'site.test': routeTo('http://127.0.0.1:1', { state: 'disabled' }),
      'new.test': routeTo('http://127.0.0.1:1', { state: 'deploying' }),
      'copy.test': routeTo('http://127.0.0.1:1', { state: 'cloning' }),
      'failed.test': routeTo('http://127.0.0.1:1', { state: 'deploying', deployFailed: true }),
    })
    for (const path of ['/', '/wp-admin/', '/wp-content/x.png']) {
      const reply = await ask(port, path, { method: 'POST', body: 'x' })
      expect([reply.status, reply.reason]).toEqual([480, 'Temporarily Unavailable'])
    }
    for (const host of ['new.test', 'copy.test']) {
      const reply = await ask(port, '/', { host })
      expect([reply.status, reply.headers['retry-after']]).toEqual([503, '3'])
      expect(reply.body).toContain('http-equiv="refresh"')
    }
    // Visitors do not wait for a site whose setup failed.
    const failed = await ask(port, '/', { host: 'failed.test' })
    expect([failed.status, failed.headers['retry-after']]).toEqual([503, '300'])
    expect(failed.body).toContain('could not be set up')
    expect(failed.body).not.toContain('http-equiv="refresh"')
  })

  test('answers 503 when the route lookup fails, and 500 when a rule throws', async () => {
    const first = await startGateway(cleanup, {}, { routes: { find: () => Promise.reject(new Error('no database')) } })
    expect((await ask(first.port)).status).toBe(503)
    const bad = () => {
      throw new Error('broken rule')
    }
    const second = await startGateway(cleanup, {}, { rules: [bad] })
    expect((await ask(second.port)).status).toBe(500)
    const late = await startGateway(cleanup, {}, { rules: [async () => undefined, async () => bad()] })
    expect((await ask(late.port)).status).toBe(500)
  })
})

describe('headers', () => {
  test('keeps hop-by-hop and listed headers, forged ones, and invalid names from the host', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) })
    const text = await rawRequest(
      port,
      cleanup,
      [
        'GET / HTTP/1.1',
        'Host: site.test',
        'Connection: close, X-Mine, content-length',
        'X-Mine: 1',
        'Keep-Alive: timeout=5',
        'Proxy-Connection: keep-alive',
        'Proxy-Authorization: Basic x',
        'TE: trailers',
        'Upgrade: h2c',
        'HTTP2-Settings: x',
        'X-Forwarded-For: 9.9.9.9',
        'X-Forwarded-Proto: https',
        'X-Forwarded-Port: 1',
        'X_Forwarded_For: 9.9.9.9',
        'X-Stead-Key: guess',
        'X-Stead-Peer: 9.9.9.9 1',
        'x-stead-site: 1',
        'X-Request-Id: mine',
        'Forwarded: for=9.9.9.9',
        'X-Real-IP: 9.9.9.9',
        'Proxy: http://evil.test',
        'Cookie: a=1',
        'Cookie: b=2',
        '\r\n',
      ].join('\r\n'),
    )
    const seen = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4).replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, ''))
    const names = seen.raw.filter((_: string, i: number) => i % 2 === 0).map((name: string) => name.toLowerCase())
    expect(names.sort()).toEqual(
      // biome-ignore format: one list
      ['cookie', 'cookie', 'host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-request-id', 'x-stead-key', 'x-stead-peer', 'x-stead-site'],
    )
    expect(seen.headers['x-forwarded-for']).toBe('127.0.0.1')
    expect(seen.headers['x-stead-key']).toBe('key-of-the-host')
    expect(seen.headers['x-stead-peer']).toMatch(/^127\.0\.0\.1 \d+$/)
    expect(text).not.toContain('9.9.9.9')
  })

  test('believes trusted proxies from the right, up to the first untrusted one', async () => {
    const { port } = await startGateway(
      cleanup,
      { 'site.test': routeTo(await startEcho(cleanup)) },
      { trustProxy: ['127.0.0.0/8', '10.0.0.1'] },
    )
    const reply = await ask(port, '/', {
      headers: { 'x-forwarded-for': '6.6.6.6, 192.0.2.7, 10.0.0.1', 'x-forwarded-proto': 'https' },
    })
    expect(JSON.parse(reply.body).headers).toMatchObject({
      'x-forwarded-for': '192.0.2.7, 10.0.0.1, 127.0.0.1',
      'x-forwarded-proto': 'https',
    })
  })

  test('keeps internal headers between host and edge, and keeps Set-Cookie lines separate', async () => {
    const upstream = await startHost(cleanup, (_request, response) => {
      response.writeHead(201, 'Made', [
        // biome-ignore format: pairs
        'Set-Cookie',
        'a=1',
        'Set-Cookie',
        'b=2',
        'X-Stead-Renderer',
        'php',
        'X-Request-Id',
        'host',
        'Connection',
        'keep-alive, x-gone',
        'X-Gone',
        '1',
        'Keep-Alive',
        'timeout=9',
        'Proxy-Authenticate',
        'Basic',
        'X-Kept',
        '\xe9',
      ])
      response.end('ok')
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const reply = await ask(port)
    expect([reply.status, reply.reason, reply.body]).toEqual([201, 'Made', 'ok'])
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(reply.headers['x-kept']).toBe('\xe9')
    expect(reply.raw.map((text) => text.toLowerCase())).not.toEqual(expect.arrayContaining(['x-gone']))
    for (const name of ['x-stead-renderer', 'proxy-authenticate', 'x-gone']) expect(reply.headers[name]).toBeUndefined()
    expect(reply.headers['x-request-id']).not.toBe('host')
  })
})
