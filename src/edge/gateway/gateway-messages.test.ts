import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import {
  ask,
  type Cleanup,
  createCleanup,
  eventually,
  rawConnect,
  rawRequest,
  routeTo,
  startEcho,
  startGateway,
  startHost,
} from '../test-support.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

describe('messages', () => {
  test('answers HEAD without a body, and keeps the length and the connection to the host', async () => {
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

  test('sends 204 and 304 without a body, and keeps the connection', async () => {
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

  test('sends 100 Continue only when the host wants the body', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) })
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

  test('streams 16 MB up and down, with length and chunked', async () => {
    const upstream = await startHost(cleanup, async (request, response) => {
      response.writeHead(200)
      for await (const chunk of request) if (!response.write(chunk)) await once(response, 'drain')
      response.end()
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const piece = randomBytes(1 << 20)
    for (const headers of [{ 'content-length': String(16 << 20) }, { 'transfer-encoding': 'chunked' }]) {
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
      for (let i = 0; i < 16; i++) {
        sent.update(piece)
        if (!request.write(piece)) await once(request, 'drain')
      }
      request.end()
      await answer
      expect(got.digest('hex')).toBe(sent.digest('hex'))
    }
  })

  test('applies back-pressure: a host that does not read stops the visitor, and the reverse', async () => {
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
      const closed = once(response, 'close')
      while (!response.destroyed && produced < 512 << 20) {
        produced += piece.length
        if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed])
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

  test('delivers an early 413 of the host to a client that keeps sending', async () => {
    const upstream = await startHost(cleanup, (_request, response) => {
      response.writeHead(413)
      response.end('too large')
    })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) })
    const reply = await ask(port, '/', { method: 'POST', body: Buffer.alloc(8 << 20) })
    expect([reply.status, reply.body]).toEqual([413, 'too large'])
  })
})
