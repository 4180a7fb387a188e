import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { AccessEntry } from './access-log.ts'
import { defaultLimits } from './limits.ts'
import type { Route } from './route.ts'
import {
  type Cleanup,
  createCleanup,
  eventually,
  rawConnect,
  rawRequest,
  routeTo,
  startGateway,
  startHost,
} from './test-support.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

interface Reply {
  status: number
  reason: string
  headers: IncomingHttpHeaders
  raw: string[]
  body: string
}

async function ask(
  port: number,
  path = '/',
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer; host?: string } = {},
): Promise<Reply> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    method: options.method ?? 'GET',
    headers: { host: options.host ?? 'site.test', ...options.headers },
    agent: false,
  })
  request.end(options.body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  // A body that is still on its way when the answer is complete may fail.
  request.on('error', () => {})
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  return {
    status: response.statusCode as number,
    reason: response.statusMessage as string,
    headers: response.headers,
    raw: response.rawHeaders,
    body: Buffer.concat(chunks).toString(),
  }
}

/** A host that says what it was asked. */
const echo = () =>
  startHost(cleanup, async (request, response) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        method: request.method,
        url: request.url,
        raw: request.rawHeaders,
        headers: request.headers,
        body: Buffer.concat(chunks).toString('latin1'),
      }),
    )
  })

describe('routing', () => {
  test('200 from the host of the site, with key, site, address and request id', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await echo()) })
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

  test('200 for a host name in capitals, with port and trailing dot', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await echo()) })
    const reply = await ask(port, '/', { host: `SITE.Test.:${port}` })
    expect(JSON.parse(reply.body).headers.host).toBe(`site.test:${port}`)
  })

  test('200 for an absolute-form target, whose host overrules Host', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await echo()) })
    const text = await rawRequest(
      port,
      cleanup,
      'GET http://Site.test:81/p?q HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n',
    )
    expect(text).toContain('"url":"/p?q"')
    expect(text).toContain('"host":"site.test:81"')
  })

  test('404 for unknown hosts, in the form that is accepted', async () => {
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

  test('400 for a Host that is none', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo('http://127.0.0.1:1') })
    for (const host of ['site test', 'site.test:99999', 'a..b', '-', 'user@site.test', '/'])
      expect((await ask(port, '/', { host })).status, host).toBe(400)
    for (const lines of ['', 'Host:\r\n', 'Host: site.test\r\nHost: site.test\r\n'])
      expect(await rawRequest(port, cleanup, `GET / HTTP/1.1\r\n${lines}\r\n`)).toMatch(
        /^HTTP\/1.1 400 [\s\S]*X-Request-Id/,
      )
  })

  test('480 on every path of a disabled site, 503 that reloads itself while it is prepared', async () => {
    const { port } = await startGateway(cleanup, {
      'site.test': routeTo('http://127.0.0.1:1', { state: 'disabled' }),
      'new.test': routeTo('http://127.0.0.1:1', { state: 'deploying' }),
      'copy.test': routeTo('http://127.0.0.1:1', { state: 'cloning' }),
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
  })

  test('503 when a route cannot be looked up, 500 when a rule breaks', async () => {
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
  test('hop-by-hop and listed headers, forged ones and odd names do not reach the host', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await echo()) })
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
      ['connection', 'cookie', 'cookie', 'host', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-request-id', 'x-stead-key', 'x-stead-site'],
    )
    expect(seen.headers['x-forwarded-for']).toBe('127.0.0.1')
    expect(seen.headers['x-stead-key']).toBe('key-of-the-host')
    expect(text).not.toContain('9.9.9.9')
  })

  test('a trusted proxy is believed from the right, up to the first that is not trusted', async () => {
    const { port } = await startGateway(
      cleanup,
      { 'site.test': routeTo(await echo()) },
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

  test('what only host and edge say stays between them; Set-Cookie stays apart', async () => {
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

describe('messages', () => {
  test('200 for HEAD without body, keeping the length and the connection to the host', async () => {
    const sockets = new Set<unknown>()
    const upstream = await startHost(cleanup, (request, response) => {
      sockets.add(request.socket)
      response.setHeader('content-length', '5')
      response.end(request.method === 'HEAD' ? undefined : 'hello')
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    for (let i = 0; i < 5; i++) {
      const reply = await ask(port, '/', { method: 'HEAD' })
      expect([reply.headers['content-length'], reply.body]).toEqual(['5', ''])
    }
    expect((await ask(port)).body).toBe('hello')
    expect(sockets.size).toBe(1)
  })

  test('204 and 304 without body; the connection goes on', async () => {
    const upstream = await startHost(cleanup, (request, response) => {
      response.writeHead(Number(request.url?.slice(1)), { etag: '"x"' })
      response.end()
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const connection = await rawConnect(port, cleanup)
    for (const status of [204, 304, 200]) connection.socket.write(`GET /${status} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
    const text = await connection.until((seen) => seen.split('HTTP/1.1 ').length === 4 && seen.includes('0\r\n\r\n'))
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 204', 'HTTP/1.1 304', 'HTTP/1.1 200'])
  })

  test('100 Continue only when the body is wanted', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await echo()) })
    const head = (host: string) =>
      `POST / HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`
    const wanted = await rawConnect(port, cleanup)
    wanted.socket.write(head('site.test'))
    await wanted.until((text) => text.includes('100 Continue\r\n\r\n'))
    wanted.socket.write('body')
    expect(await wanted.closed()).toContain('"body":"body"')
    expect(await rawRequest(port, cleanup, head('nobody.test'))).toMatch(/^HTTP\/1.1 404/)
    expect(
      await rawRequest(port, cleanup, 'GET / HTTP/1.1\r\nHost: site.test\r\nExpect: tea\r\nConnection: close\r\n\r\n'),
    ).toMatch(/^HTTP\/1.1 417 [\s\S]*X-Request-Id/)
  })

  test('64 MB go up and down in pieces, with length and chunked', async () => {
    const upstream = await startHost(cleanup, async (request, response) => {
      response.writeHead(200)
      for await (const chunk of request) if (!response.write(chunk)) await once(response, 'drain')
      response.end()
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const piece = randomBytes(1 << 20)
    for (const headers of [{ 'content-length': String(64 << 20) }, { 'transfer-encoding': 'chunked' }]) {
      const request = httpRequest({
        port,
        host: '127.0.0.1',
        method: 'POST',
        headers: { host: 'site.test', ...headers },
      })
      const sent = createHash('sha256')
      const got = createHash('sha256')
      const answer = once(request, 'response').then(async ([response]) => {
        for await (const chunk of response) got.update(chunk)
      })
      for (let i = 0; i < 64; i++) {
        sent.update(piece)
        if (!request.write(piece)) await once(request, 'drain')
      }
      request.end()
      await answer
      expect(got.digest('hex')).toBe(sent.digest('hex'))
    }
  })

  test('back-pressure: a host that does not read stops the visitor, a visitor that does not read stops the host', async () => {
    let taken = 0
    let produced = 0
    const upstream = await startHost(cleanup, async (request, response) => {
      if (request.method === 'POST') {
        request.once('readable', () => {
          taken = 1
        })
        return
      }
      const piece = Buffer.alloc(1 << 16)
      response.on('error', () => {})
      while (!response.destroyed && produced < 512 << 20) {
        produced += piece.length
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), once(response, 'close')])
      }
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const up = await rawConnect(port, cleanup)
    up.socket.write(`POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: ${1 << 30}\r\n\r\n`)
    const piece = Buffer.alloc(1 << 20)
    const stuck = () => new Promise((resolve) => setTimeout(() => resolve('stuck'), 500))
    let sent = 0
    while (sent < 256 << 20) {
      sent += piece.length
      if (!up.socket.write(piece) && (await Promise.race([once(up.socket, 'drain'), stuck()])) === 'stuck') break
    }
    expect(taken).toBe(1)
    expect(sent).toBeLessThan(64 << 20)
    const down = await rawConnect(port, cleanup)
    down.socket.pause()
    down.socket.write('GET / HTTP/1.1\r\nHost: site.test\r\n\r\n')
    await eventually(() => produced > 0)
    for (let last = -1; last !== produced; ) {
      last = produced
      await stuck()
    }
    expect(produced).toBeLessThan(64 << 20)
  })

  test('413 that the host gives early reaches a client that goes on sending', async () => {
    const upstream = await startHost(cleanup, (_request, response) => {
      response.writeHead(413)
      response.end('too large')
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const reply = await ask(port, '/', { method: 'POST', body: Buffer.alloc(8 << 20) })
    expect([reply.status, reply.body]).toEqual([413, 'too large'])
  })
})

describe('refusals', () => {
  const close = 'Connection: close\r\n\r\n'
  test.each([
    [
      'both lengths',
      'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['two lengths', 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde', 400],
    ['length with sign', 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: +4\r\n\r\nabcd', 400],
    ['obscured coding', 'POST / HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n', 501],
    ['second coding', `POST / HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 501],
    ['coding with HTTP/1.0', 'POST / HTTP/1.0\r\nHost: site.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
    ['space before colon', 'GET / HTTP/1.1\r\nHost : site.test\r\n\r\n', 400],
    ['folded line', 'GET / HTTP/1.1\r\nHost: site.test\r\nX-A: 1\r\n b: 2\r\n\r\n', 400],
    ['bare line feeds', 'GET / HTTP/1.1\nHost: site.test\n\n', 400],
    ['no HTTP', 'hello\r\n\r\n', 400],
    ['TLS on the plain port', '\x16\x03\x01\x02\x00\x01\x00', 400],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['asterisk', `OPTIONS * HTTP/1.1\r\nHost: site.test\r\n${close}`, 400],
    ['CONNECT', 'CONNECT site.test:443 HTTP/1.1\r\nHost: site.test\r\n\r\n', 405],
    ['TRACE', `TRACE / HTTP/1.1\r\nHost: site.test\r\n${close}`, 405],
    ['long URL', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nHost: site.test\r\n\r\n`, 414],
    ['longer URL', `GET /${'a'.repeat(60_000)} HTTP/1.1\r\nHost: site.test\r\n\r\n`, 414],
    ['large headers', `GET / HTTP/1.1\r\nHost: site.test\r\nX-A: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    [
      'WebSocket',
      'GET / HTTP/1.1\r\nHost: site.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n\r\n',
      501,
    ],
  ])('%s', async (_name, bytes, status) => {
    let asked = 0
    const upstream = await startHost(cleanup, (_request, response) => {
      asked++
      response.end()
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const text = await rawRequest(port, cleanup, bytes)
    expect(text).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*X-Request-Id: [^]*</html>\\s*$`))
    expect(text.match(/HTTP\/1.1 /g)).toHaveLength(1)
    expect(asked).toBe(0)
    expect((await ask(port)).status).toBe(200)
  })

  test('200 for an offer of h2c, which is ignored', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await echo()) })
    const text = await rawRequest(
      port,
      cleanup,
      'GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n',
    )
    expect(text).toMatch(/^HTTP\/1.1 200/)
  })

  test('408 for a client that never finishes its headers, and none for a stalled body: that one is cut off', async () => {
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 600 }
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await echo()) }, { limits })
    expect(await rawRequest(port, cleanup, 'GET / HTTP/1.1\r\nHost: si')).toMatch(/^HTTP\/1.1 408/)
    expect(
      await rawRequest(port, cleanup, 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 9\r\n\r\nab'),
    ).not.toContain(' 200 ')
  })

  test('a visitor that takes nothing of its answer is cut off, and the host is free', async () => {
    let closed = false
    const upstream = await startHost(cleanup, (_request, response) => {
      response.on('close', () => {
        closed = true
      })
      response.end(Buffer.alloc(64 << 20))
    })
    const limits = { stallTimeoutMs: 300 }
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { limits })
    const connection = await rawConnect(port, cleanup)
    connection.socket.pause()
    connection.socket.write('GET / HTTP/1.1\r\nHost: site.test\r\n\r\n')
    await eventually(() => closed)
    connection.socket.resume()
    expect((await connection.closed()).length).toBeLessThan(64 << 20)
  })

  test('connections and pipelined requests are bounded', async () => {
    let open = 0
    const upstream = await startHost(cleanup, () => {
      open++
    })
    const limits = { connections: 3, pipelined: 4 }
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { limits })
    const first = await rawConnect(port, cleanup)
    first.socket.write('GET / HTTP/1.1\r\nHost: site.test\r\n\r\n'.repeat(40))
    await eventually(() => open === 4)
    await rawConnect(port, cleanup)
    await rawConnect(port, cleanup)
    const fourth = await rawConnect(port, cleanup)
    expect(await fourth.closed()).toBe('')
    expect(open).toBe(4)
  })
})

describe('failures', () => {
  test('a visitor that leaves takes its request along to the host, before and during the answer', async () => {
    const gone: string[] = []
    const asked: string[] = []
    const upstream = await startHost(cleanup, (request, response) => {
      asked.push(request.url as string)
      response.on('close', () => gone.push(request.url as string))
      if (request.url === '/during') response.write('part')
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    for (const path of ['/before', '/during']) {
      const connection = await rawConnect(port, cleanup)
      connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
      await eventually(() => asked.includes(path) && (path === '/before' || connection.text().includes('part')))
      connection.socket.destroy()
      await eventually(() => gone.includes(path))
    }
    const upload = await rawConnect(port, cleanup)
    upload.socket.write('POST /upload HTTP/1.1\r\nHost: site.test\r\nContent-Length: 100\r\n\r\nabc')
    await eventually(() => asked.includes('/upload'))
    upload.socket.destroy()
    await eventually(() => gone.includes('/upload'))
  })

  test('a visitor that leaves takes all its pipelined requests along, and each has its log entry', async () => {
    const entries: AccessEntry[] = []
    const gone: string[] = []
    let asked = 0
    const upstream = await startHost(cleanup, (request, response) => {
      asked++
      response.on('close', () => gone.push(request.url as string))
    })
    const { port } = await startGateway(
      cleanup,
      { 'site.test': routeTo(upstream) },
      {
        onAccess: (entry) => {
          entries.push(entry)
          throw new Error('a log that is full must not stop the edge')
        },
      },
    )
    const connection = await rawConnect(port, cleanup)
    for (const path of ['/1', '/2', '/3']) connection.socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
    await eventually(() => asked === 3)
    connection.socket.destroy()
    await eventually(() => gone.length === 3 && entries.length === 3)
    expect(entries.map((entry) => entry.status)).toEqual([499, 499, 499])
  })

  test('an answer that the host breaks off does not look complete', async () => {
    const upstream = await startHost(cleanup, (request, response) => {
      response.writeHead(200, request.url === '/length' ? { 'content-length': '100' } : {})
      response.write('part', () => setTimeout(() => response.destroy(), 20))
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    for (const path of ['/length', '/chunked']) {
      const text = await rawRequest(port, cleanup, `GET ${path} HTTP/1.1\r\nHost: site.test\r\n\r\n`)
      expect(text).toContain('part')
      expect(text).not.toContain('\r\n0\r\n\r\n')
    }
  })

  test('502 without a host, 504 when it is too slow', async () => {
    const upstream = await startHost(cleanup, () => {})
    const suspected: string[] = []
    const routes = { 'site.test': routeTo(upstream), 'dead.test': routeTo('http://127.0.0.1:1') } as Record<
      string,
      Route
    >
    const limits = { upstream: { ...defaultLimits.upstream, responseTimeoutMs: 200 } }
    const { port } = await startGateway(
      cleanup,
      {},
      { limits, routes: { find: (name) => routes[name], suspect: (name) => void suspected.push(name) } },
    )
    expect((await ask(port, '/', { host: 'dead.test' })).status).toBe(502)
    expect((await ask(port, '/', { host: 'dead.test', method: 'POST', body: 'x'.repeat(1 << 20) })).status).toBe(502)
    expect((await ask(port)).status).toBe(504)
    expect(suspected).toEqual(['dead.test', 'dead.test'])
  })

  test('a request on a connection that the host just closed is tried once more, but never a POST', async () => {
    let connections = 0
    const asked: string[] = []
    const upstream = await startHost(cleanup, (request, response) => {
      const first = !(request.socket as { seen?: boolean }).seen
      if (first) connections++
      ;(request.socket as { seen?: boolean }).seen = true
      asked.push(`${request.method}`)
      if (first && request.url !== '/always') response.end('ok')
      else request.socket.destroy()
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    expect((await ask(port)).status).toBe(200)
    expect((await ask(port)).status).toBe(200)
    expect(connections).toBe(2)
    expect(asked).toEqual(['GET', 'GET', 'GET'])
    expect((await ask(port)).status).toBe(200)
    expect((await ask(port, '/', { method: 'POST', body: 'x' })).status).toBe(502)
    asked.length = 0
    expect((await ask(port, '/always')).status).toBe(502)
    expect(asked).toEqual(['GET', 'GET'])
  })

  test('the death of the host process: 502, and 200 again as soon as it is back', async () => {
    let child: ChildProcess | undefined
    cleanup.add(() => child?.kill('SIGKILL'))
    const start = async (port: number) => {
      const script = `require('node:http').createServer((q, s) => q.url === '/hang' ? process.send('asked') : s.end('alive'))
        .listen(${port}, '127.0.0.1', function () { process.send(this.address().port) })`
      child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
      return (await once(child, 'message'))[0] as number
    }
    const hostPort = await start(0)
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(`http://127.0.0.1:${hostPort}`) })
    for (let i = 0; i < 8; i++) expect((await ask(port)).body).toBe('alive')
    const hanging = ask(port, '/hang', { method: 'POST', body: 'x' })
    await once(child!, 'message')
    child!.kill('SIGKILL')
    expect((await hanging).status).toBe(502)
    for (let i = 0; i < 8; i++) expect((await ask(port)).status).toBe(502)
    await start(hostPort)
    for (let i = 0; i < 8; i++) expect((await ask(port)).body).toBe('alive')
  })

  test('close lets a request under way finish', async () => {
    let finish = () => {}
    const upstream = await startHost(cleanup, (_request, response) => {
      finish = () => response.end('done')
    })
    const { gateway, port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const reply = ask(port)
    const before = finish
    await eventually(() => finish !== before)
    const closing = gateway.close()
    finish()
    expect((await reply).body).toBe('done')
    await closing
  })
})

describe('access log', () => {
  test('one entry for each response, also for those that the visitor did not wait for', async () => {
    const entries: AccessEntry[] = []
    let asked = false
    const upstream = await startHost(cleanup, (request, response) => {
      asked = true
      if (request.url === '/wait') return
      response.writeHead(200, { 'x-stead-renderer': 'php' })
      response.end('hello')
    })
    const { port } = await startGateway(
      cleanup,
      { 'site.test': routeTo(upstream) },
      { onAccess: (entry) => void entries.push(entry) },
    )
    await ask(port, '/p?q=1', {
      headers: { referer: 'http://r.test/', 'user-agent': 'test', 'x-forwarded-for': '9.9.9.9' },
    })
    await ask(port, '/', { host: 'nobody.test' })
    asked = false
    const connection = await rawConnect(port, cleanup)
    connection.socket.write('GET /wait HTTP/1.1\r\nHost: site.test\r\n\r\n')
    await eventually(() => asked)
    connection.socket.destroy()
    await eventually(() => entries.length === 3)
    expect(entries[0]).toMatchObject({
      siteId: 7,
      body_bytes_sent: 5,
      cached: '',
      http2: '',
      http_host: 'site.test',
      http_referer: 'http://r.test/',
      http_user_agent: 'test',
      http_version: 'HTTP/1.1',
      http_x_forwarded_for: '9.9.9.9',
      renderer: 'php',
      request_completion: 'OK',
      request_type: 'GET',
      request_url: '/p?q=1',
      scheme: 'http',
      status: 200,
      type: 'access',
      user_ip: '127.0.0.1',
    })
    expect(Date.parse(entries[0]!.date) / 1000).toBeCloseTo(entries[0]!.timestamp, -1)
    expect(entries[0]!.request_time).toBeGreaterThanOrEqual(0)
    expect(entries[1]).toMatchObject({ siteId: undefined, status: 404, renderer: 'edge' })
    expect(entries[2]).toMatchObject({ status: 499, request_completion: '', body_bytes_sent: 0 })
  })
})

test('10,000 requests leave nothing behind', async () => {
  const upstream = await startHost(cleanup, (_request, response) => void response.end('ok'))
  const { gateway, port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  cleanup.add(() => agent.destroy())
  const one = async () => {
    const request = httpRequest({ port, host: '127.0.0.1', headers: { host: 'site.test' }, agent }).end()
    const [response] = await once(request, 'response')
    response.resume()
    await once(response, 'end')
    return response.statusCode
  }
  const before = process.memoryUsage().heapUsed
  for (let done = 0; done < 10_000; done += 8)
    expect(await Promise.all(Array.from({ length: 8 }, one))).toEqual(Array(8).fill(200))
  // Test runner and garbage included: an object kept per request would show as far more.
  expect((process.memoryUsage().heapUsed - before) / 10_000).toBeLessThan(8_000)
  const open = await new Promise((resolve) =>
    gateway.server.getConnections((_error, connections) => resolve(connections)),
  )
  expect(open).toBe(8)
}, 120_000)
