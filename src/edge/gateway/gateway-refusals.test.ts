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
    [
      'the same length twice in one line',
      'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 4, 4\r\n\r\nabcd',
      400,
    ],
    ['hexadecimal length', 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 0x4\r\n\r\nabcd', 400],
    ['length below nothing', 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: -1\r\n\r\nabcd', 400],
    ['length without end', `POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: ${'9'.repeat(30)}\r\n\r\nabcd`, 400],
    [
      'coding twice',
      `POST / HTTP/1.1\r\nHost: site.test\r\n${'Transfer-Encoding: chunked\r\n'.repeat(2)}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'coding and another',
      'POST / HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n',
      400,
    ],
    [
      'tab before a coding',
      'POST / HTTP/1.1\r\nHost: site.test\r\nTransfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n',
      400,
    ],
    ['two hosts', 'GET / HTTP/1.1\r\nHost: site.test\r\nHost: other.test\r\n\r\n', 400],
    ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
    ['a zero byte in a line', 'GET / HTTP/1.1\r\nHost: site.test\r\nX-A: a\0b\r\n\r\n', 400],
    ['a bare return in a line', 'GET / HTTP/1.1\r\nHost: site.test\r\nX-A: a\rContent-Length: 4\r\n\r\n', 400],
    ['a line without a name', 'GET / HTTP/1.1\r\nHost: site.test\r\n: x\r\n\r\n', 400],
    ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: site.test\r\n\r\n', 400],
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

  test('ignores an offer of h2c, and answers 200', async () => {
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) })
    const text = await rawRequest(
      port,
      cleanup,
      'GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close, Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n',
    )
    expect(text).toMatch(/^HTTP\/1.1 200/)
  })

  test('answers 408 to a client that never finishes its headers, and cuts off a stalled body', async () => {
    const limits = { headersTimeoutMs: 300, requestTimeoutMs: 600 }
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) }, { limits })
    expect(await rawRequest(port, cleanup, 'GET / HTTP/1.1\r\nHost: si')).toMatch(/^HTTP\/1.1 408/)
    expect(
      await rawRequest(port, cleanup, 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 9\r\n\r\nab'),
    ).not.toContain(' 200 ')
  })

  test('answers 408 with a text for a body that stalls, started or not, and not for a steady one', async () => {
    const limits = { bodyPace: { windowMs: 300, leastBytes: 100 } }
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(await startEcho(cleanup)) }, { limits })
    const head = 'POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: 40000\r\n\r\n'
    for (const begun of ['ab', 'x'.repeat(20_000)]) {
      const text = await rawRequest(port, cleanup, head + begun)
      expect(text).toMatch(/^HTTP\/1.1 408 [\s\S]*Connection: close/i)
      expect(text).toContain('arrives too slowly, or has stopped')
    }
  })

  test('cuts off a visitor that does not read its answer, and frees the host', async () => {
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

  test('bounds connections, and runs one request of a connection at a time', async () => {
    let open = 0
    const upstream = await startHost(cleanup, () => {
      open++
    })
    const limits = { connections: 3 }
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { limits })
    const first = await rawConnect(port, cleanup)
    first.socket.write('GET / HTTP/1.1\r\nHost: site.test\r\n\r\n'.repeat(40))
    await eventually(() => open === 1)
    await rawConnect(port, cleanup)
    await rawConnect(port, cleanup)
    const fourth = await rawConnect(port, cleanup)
    expect(await fourth.closed()).toBe('')
    expect(open).toBe(1)
  })
})
