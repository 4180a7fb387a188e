import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { mkdir, mkdtemp, rm, truncate, utimes, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { VisitorRequest } from '../php/pool.ts'
import { PhpBodyTooLarge, PhpBusy, PhpCrashed, type PhpResponse, PhpTimeout } from '../php/runtime.ts'
import { createWebServer, type HostedSite, type PhpHandler } from './web-server.ts'

const KEY = 'the-key-of-this-host'

let base: string
let stop: (() => Promise<void>) | undefined

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'stead-web-'))
  await mkdir(join(base, 'home/web/wp-content/uploads'), { recursive: true })
  await mkdir(join(base, 'core/wp-admin'), { recursive: true })
  await writeFile(join(base, 'home/web/index.php'), '<?php')
  await writeFile(join(base, 'core/wp-admin/index.php'), '<?php')
  await writeFile(join(base, 'home/web/style.css'), 'body{}')
  await writeFile(join(base, 'home/web/empty.txt'), '')
  await utimes(join(base, 'home/web/style.css'), 1_700_000_000, 1_700_000_000)
})

afterEach(async () => {
  await stop?.()
  stop = undefined
  await rm(base, { recursive: true, force: true })
})

type Handle = (request: VisitorRequest, signal?: AbortSignal) => PhpResponse | Promise<PhpResponse>

const ok = (body = 'php', headers: string[] = [], status = 200): PhpResponse => ({
  status,
  headers,
  body: Readable.from([body]),
})

async function start(handle: Handle = () => ok(), mostBodyBytes = 1 << 20): Promise<number> {
  const site: HostedSite = {
    siteId: 7,
    homePath: join(base, 'home'),
    corePath: join(base, 'core'),
    phpVersion: '8.3',
    uid: null,
    address: 'site.test',
    state: 'live',
  }
  const php: PhpHandler = { handle: async (_site, request, signal) => handle(request, signal) }
  const server = createWebServer({
    siteById: async (siteId) => (siteId === 7 ? site : undefined),
    php,
    hostKey: KEY,
    log: { warn() {}, error() {} },
    mostBodyBytes,
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return (server.address() as AddressInfo).port
}

interface Reply {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  text: string
}

async function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Reply> {
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    method: options.method ?? 'GET',
    agent: false,
    headers: {
      host: 'site.test:8081',
      'x-stead-key': KEY,
      'x-stead-site': '7',
      'x-forwarded-for': '192.0.2.7, 10.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'site.test:8081',
      ...options.headers,
    },
  })
  request.end(options.body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  request.on('error', () => {})
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const body = Buffer.concat(chunks)
  return { status: response.statusCode as number, headers: response.headers, body, text: body.toString() }
}

describe('access', () => {
  test('403 without the right key, 404 for a site that is not here', async () => {
    const port = await start()
    for (const key of ['', 'x', `${KEY.slice(0, -1)}X`, `${KEY}x`])
      expect((await ask(port, '/style.css', { headers: { 'x-stead-key': key } })).status).toBe(403)
    for (const id of ['8', '', 'x', '7x', '-1'])
      expect((await ask(port, '/style.css', { headers: { 'x-stead-site': id } })).status, id).toBe(404)
  })
})

describe('files', () => {
  test('200 with type, length, validators; HEAD the same without body', async () => {
    const port = await start()
    const reply = await ask(port, '/style.css')
    expect([reply.status, reply.text]).toEqual([200, 'body{}'])
    expect(reply.headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'content-length': '6',
      'last-modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
      'cache-control': 'public, max-age=86400',
      'x-stead-renderer': 'static',
    })
    expect(reply.headers.etag).toMatch(/^"[^"]+"$/)
    const head = await ask(port, '/style.css', { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '6'])
    expect((await ask(port, '/style.css?ver=6.8')).headers['cache-control']).toBe('public, max-age=31536000')
    expect((await ask(port, '/empty.txt')).headers['content-length']).toBe('0')
  })

  test('304 for a current copy', async () => {
    const port = await start()
    const { etag, 'last-modified': modified } = (await ask(port, '/style.css')).headers as Record<string, string>
    // biome-ignore format: a table
    for (const [headers, status] of [
      [{ 'if-none-match': etag }, 304],
      [{ 'if-none-match': `"x", W/${etag}` }, 304],
      [{ 'if-none-match': '*' }, 304],
      [{ 'if-none-match': '"x"' }, 200],
      [{ 'if-modified-since': modified }, 304],
      [{ 'if-modified-since': 'Tue, 14 Nov 2023 22:13:19 GMT' }, 200],
      [{ 'if-modified-since': 'yesterday' }, 200],
      [{ 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
    ] as [Record<string, string>, number][]) {
      const reply = await ask(port, '/style.css', { headers })
      expect([reply.status, reply.headers.etag], JSON.stringify(headers)).toEqual([status, etag])
    }
  })

  test('206 for one range, 416 past the end, 200 for what is not understood or changed', async () => {
    const port = await start()
    const { etag } = (await ask(port, '/style.css')).headers as Record<string, string>
    // biome-ignore format: a table
    for (const [range, status, text, contentRange] of [
      ['bytes=0-0', 206, 'b', 'bytes 0-0/6'],
      ['bytes=1-3', 206, 'ody', 'bytes 1-3/6'],
      ['bytes=4-', 206, '{}', 'bytes 4-5/6'],
      ['bytes=-2', 206, '{}', 'bytes 4-5/6'],
      ['bytes=-99', 206, 'body{}', 'bytes 0-5/6'],
      ['bytes=2-99', 206, 'dy{}', 'bytes 2-5/6'],
      ['bytes=6-', 416, undefined, 'bytes */6'],
      ['bytes=-0', 416, undefined, 'bytes */6'],
      ['bytes=3-1', 200, 'body{}', undefined],
      ['bytes=0-0,2-3', 200, 'body{}', undefined],
      ['lines=0-1', 200, 'body{}', undefined],
      ['bytes=-', 200, 'body{}', undefined],
    ] as [string, number, string?, string?][]) {
      const reply = await ask(port, '/style.css', { headers: { range } })
      expect([reply.status, reply.headers['content-range']], range).toEqual([status, contentRange])
      if (text !== undefined) expect(reply.text).toBe(text)
    }
    const changed = { range: 'bytes=0-0', 'if-range': '"other"' }
    expect((await ask(port, '/style.css', { headers: changed })).status).toBe(200)
    expect((await ask(port, '/style.css', { headers: { ...changed, 'if-range': etag as string } })).status).toBe(206)
  })

  test('large files stream, whole and in part', async () => {
    const port = await start()
    const bytes = randomBytes(5 << 20)
    await writeFile(join(base, 'home/web/wp-content/uploads/film.mp4'), bytes)
    const whole = await ask(port, '/wp-content/uploads/film.mp4')
    expect(whole.headers['content-type']).toBe('video/mp4')
    expect(whole.body.equals(bytes)).toBe(true)
    const part = await ask(port, '/wp-content/uploads/film.mp4', { headers: { range: 'bytes=1000000-3999999' } })
    expect(part.body.equals(bytes.subarray(1_000_000, 4_000_000))).toBe(true)
  })

  test('a file that shrinks while it is sent ends the connection', async () => {
    const port = await start()
    const path = join(base, 'home/web/wp-content/uploads/film.mp4')
    await writeFile(path, randomBytes(64 << 20))
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `GET /wp-content/uploads/film.mp4 HTTP/1.1\r\nHost: site.test\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`,
    )
    await once(socket, 'readable')
    await truncate(path, 1000)
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
    })
    socket.on('error', () => {})
    await once(socket, 'close')
    expect(received).toBeLessThan(64 << 20)
  })

  test('405 for other methods, redirects for folders, pages for what is refused', async () => {
    const port = await start()
    const post = await ask(port, '/style.css', { method: 'POST', body: 'x' })
    expect([post.status, post.headers.allow]).toEqual([405, 'GET, HEAD'])
    const folder = await ask(port, '/wp-admin?x=1')
    expect([folder.status, folder.headers.location]).toEqual([301, '/wp-admin/?x=1'])
    expect((await ask(port, '/wp-admin', { method: 'POST', body: 'x' })).status).toBe(308)
    expect((await ask(port, '/.env')).status).toBe(404)
    expect((await ask(port, '/%00')).status).toBe(400)
  })

  test.skipIf(process.platform !== 'linux')('no descriptor stays open', async () => {
    const port = await start()
    const open = () => readdirSync('/proc/self/fd').length
    await ask(port, '/style.css')
    const before = open()
    for (let i = 0; i < 50; i++)
      for (const [path, headers] of [
        ['/style.css', {}],
        ['/style.css', { 'if-none-match': '*' }],
        ['/style.css', { range: 'bytes=9-' }],
        ['/wp-admin', {}],
        ['/wp-admin/', {}],
        ['/none', {}],
      ] as [string, Record<string, string>][])
        await ask(port, path, { headers })
    expect(open()).toBeLessThanOrEqual(before + 4)
  })
})

describe('PHP', () => {
  test('gets the request as the visitor made it, and what the edge says of the visitor', async () => {
    let seen: VisitorRequest | undefined
    let body = ''
    const port = await start(async (request) => {
      seen = request
      for await (const chunk of request.body ?? []) body += chunk
      return ok()
    })
    await ask(port, '/a/b?c=%20d', {
      method: 'POST',
      body: 'form',
      headers: { 'X-Own': '1', proxy: 'x', 'X-Stead-More': '1' },
    })
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/a/b?c=%20d',
      script: '/wordpress/index.php',
      remoteAddress: '192.0.2.7',
      https: true,
      host: 'site.test:8081',
    })
    expect(body).toBe('form')
    const names = seen!.headers.filter((_, i) => i % 2 === 0)
    expect(names).toEqual(expect.arrayContaining(['X-Own', 'host']))
    expect(names.filter((name) => /stead|proxy$|connection/i.test(name))).toEqual([])
    await ask(port, '/wp-admin/')
    expect(seen).toMatchObject({ script: '/wordpress/wp-admin/index.php', body: null })
  })

  test('answers with status, repeated headers and body, but not with headers of the connection', async () => {
    // biome-ignore format: pairs
    const headers = [
      'Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'X-Powered-By', 'PHP', 'Connection', 'close', 'Transfer-Encoding', 'gzip',
      'Upgrade', 'h2c', 'X-Stead-Renderer', 'forged', 'Content-Type', 'text/html', 'Status', '200 OK',
    ]
    const port = await start(() => ok('page', headers, 404))
    const reply = await ask(port, '/')
    expect([reply.status, reply.text]).toEqual([404, 'page'])
    expect(reply.headers['set-cookie']).toEqual(['a=1', 'b=2'])
    expect(reply.headers['x-stead-renderer']).toBe('php')
    for (const name of ['x-powered-by', 'upgrade', 'status']) expect(reply.headers[name]).toBeUndefined()
    expect(reply.headers['transfer-encoding']).toBe('chunked')
  })

  test('cannot break the framing of the connection that it shares with other sites', async () => {
    const injected = 'helloHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL'
    const lengths = ['5', '500', 'x', '-1']
    const port = await start((request) => {
      if (request.path === '/two') return ok('hello', ['Content-Length', '5', 'Content-Length', '9'])
      if (request.path === '/line') return ok('hello', ['X-A', 'a\r\nContent-Length: 1'])
      if (request.path === '/status') return ok('hello', [], 101)
      return ok(injected, ['Content-Length', lengths[Number(request.path.slice(1))] as string])
    })
    expect((await ask(port, '/0')).text).toBe('hello')
    await expect(ask(port, '/1')).rejects.toThrow()
    for (const path of ['/2', '/3']) expect((await ask(port, path)).text).toBe(injected)
    expect((await ask(port, '/two')).text).toBe('hello')
    expect((await ask(port, '/line')).status).toBe(502)
    expect((await ask(port, '/status')).status).toBe(502)
    const head = await ask(port, '/0', { method: 'HEAD' })
    expect([head.headers['content-length'], head.text]).toEqual(['5', ''])
  })

  test('502, 503, 504 and 500 by what went wrong', async () => {
    const faults: Record<string, Error> = {
      '/busy': new PhpBusy('full'),
      '/slow': new PhpTimeout('late'),
      '/crash': new PhpCrashed('gone'),
      '/bug': new Error('other'),
    }
    const port = await start((request) => Promise.reject(faults[request.path]))
    const busy = await ask(port, '/busy')
    expect([busy.status, busy.headers['retry-after']]).toEqual([503, '5'])
    expect((await ask(port, '/slow')).status).toBe(504)
    expect((await ask(port, '/crash')).status).toBe(502)
    expect((await ask(port, '/bug')).status).toBe(500)
  })

  test('a crash in the middle of a page does not look like its end', async () => {
    const port = await start(() => ({
      status: 200,
      headers: [],
      body: Readable.from(
        (async function* () {
          yield 'part'
          throw new PhpCrashed('gone')
        })(),
      ),
    }))
    await expect(ask(port, '/')).rejects.toThrow()
    expect((await ask(port, '/style.css')).status).toBe(200)
  })

  test('413 before PHP runs, by announced length; and when PHP finds a body too long; the connection goes on', async () => {
    let ran = 0
    const port = await start(async (request) => {
      ran++
      let bytes = 0
      for await (const chunk of request.body ?? []) {
        bytes += (chunk as Buffer).length
        if (bytes > 1000) throw new PhpBodyTooLarge('too long')
      }
      return ok()
    }, 1000)
    const large = Buffer.alloc(4 << 20)
    expect((await ask(port, '/', { method: 'POST', body: large })).status).toBe(413)
    expect(ran).toBe(0)
    const chunked = await ask(port, '/', { method: 'POST', body: large, headers: { 'transfer-encoding': 'chunked' } })
    expect(chunked.status).toBe(413)
    expect(ran).toBe(1)
    expect((await ask(port, '/', { method: 'POST', body: Buffer.alloc(1000) })).status).toBe(200)
  })

  test('is free again while a visitor with a slow line still reads', async () => {
    const page = Buffer.alloc(4 << 20, 'x')
    let taken = false
    const port = await start(() => {
      const body = Readable.from(
        (async function* () {
          for (let at = 0; at < page.length; at += 1 << 16) yield page.subarray(at, at + (1 << 16))
          taken = true
        })(),
        { objectMode: false },
      )
      return { status: 200, headers: [], body }
    })
    const socket = connect(port, '127.0.0.1')
    socket.pause()
    socket.write(
      `GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`,
    )
    while (!taken) await new Promise(setImmediate)
    let received = 0
    socket.on('data', (chunk) => {
      received += chunk.length
    })
    socket.resume()
    await once(socket, 'close')
    expect(received).toBeGreaterThan(page.length)
  })

  test('learns that the visitor has gone, before and during its answer', async () => {
    const events: string[] = []
    const port = await start((request, signal) => {
      signal?.addEventListener('abort', () => events.push(`abort ${request.path}`))
      if (request.path === '/before') {
        events.push('asked')
        return new Promise(() => {})
      }
      const body = new Readable({ read() {} })
      body.push('part')
      body.on('close', () => events.push('body closed'))
      return { status: 200, headers: [], body }
    })
    for (const path of ['/before', '/during']) {
      const socket = connect(port, '127.0.0.1')
      socket.write(`GET ${path} HTTP/1.1\r\nHost: site.test\r\nX-Stead-Key: ${KEY}\r\nX-Stead-Site: 7\r\n\r\n`)
      if (path === '/before') while (!events.includes('asked')) await new Promise(setImmediate)
      else await once(socket, 'data')
      socket.destroy()
      while (!events.includes(`abort ${path}`)) await new Promise(setImmediate)
    }
    while (!events.includes('body closed')) await new Promise(setImmediate)
  })
})
