/** Pipelined requests: answered in order, and never run behind an answer that ends the connection. */
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import {
  createCleanup,
  eventually,
  type RawConnection,
  rawConnect,
  routeTo,
  startGateway,
  startHost,
} from '../test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const HOST = 'Host: site.test\r\n'
const comment = `POST /comment HTTP/1.1\r\n${HOST}Content-Length: 4\r\n\r\ntext`
const closing = `GET /last HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`
const statuses = (text: string) => text.match(/(?<=^HTTP\/1\.1 )\d+/gm)?.map(Number)

/** Starts a host that echoes its requests, and answers all but `/slow` at once. */
async function start(limits = {}) {
  const asked: string[] = []
  const held: ServerResponse[] = []
  const upstream = await startHost(cleanup, (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    request.resume()
    if (request.url === '/slow') held.push(response)
    else response.end(`answer to ${request.url}\n`)
  })
  const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { limits })
  return { asked, held, port }
}

const refusals: [string, string, number][] = [
  ['two hosts', `GET / HTTP/1.1\r\n${HOST}${HOST}\r\n`, 400],
  ['no host', 'GET / HTTP/1.1\r\n\r\n', 400],
  ['no path', `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`, 400],
  ['a folded line', `GET / HTTP/1.1\r\n${HOST}X-A: 1\r\n b\r\n\r\n`, 400],
  ['HTTP/0.9 in words', `GET / HTTP/0.9\r\n${HOST}\r\n`, 400],
  ['HTTP/0.9', 'GET /\r\n\r\n', 400],
  ['a coding with HTTP/1.0', `POST / HTTP/1.0\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ['TRACE', `TRACE / HTTP/1.1\r\n${HOST}\r\n`, 405],
  ['CONNECT', `CONNECT site.test:80 HTTP/1.1\r\n${HOST}\r\n`, 405],
  ['a length that no number holds', `POST / HTTP/1.1\r\n${HOST}Content-Length: 9007199254740993\r\n\r\n`, 413],
  ['a long address', `GET /${'a'.repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`, 414],
  ['an expectation', `GET / HTTP/1.1\r\n${HOST}Expect: tea\r\n\r\n`, 417],
  ['a large head', `GET / HTTP/1.1\r\n${HOST}X-A: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
  ['a coding', `POST / HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 501],
  ['a WebSocket', `GET / HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`, 501],
  ['HTTP/2.0', `GET / HTTP/2.0\r\n${HOST}\r\n`, 505],
]

describe('runs nothing behind a request whose refusal ends the connection', () => {
  test.each(refusals)('%s', async (_name, refused, status) => {
    const { asked, port } = await start()
    const together = await rawConnect(port, cleanup)
    together.socket.write(refused + comment.repeat(20))
    expect(statuses(await together.closed())).toEqual([status])
    const apart = await rawConnect(port, cleanup)
    apart.socket.setNoDelay(true)
    for (const bytes of [refused, comment, comment]) apart.socket.write(bytes)
    expect(statuses(await apart.closed())).toEqual([status])
    const behind = await rawConnect(port, cleanup)
    behind.socket.write(`GET /first HTTP/1.1\r\n${HOST}\r\n${refused}${comment}`)
    expect(statuses(await behind.closed())).toEqual([200, status])
    expect(asked).toEqual(['GET /first'])
  })

  test('also when the refusal has to wait for an answer', async () => {
    const { asked, held, port } = await start()
    const connection = await rawConnect(port, cleanup)
    connection.socket.write(`GET /slow HTTP/1.1\r\n${HOST}\r\nTRACE / HTTP/1.1\r\n${HOST}\r\n${comment}`)
    await eventually(() => held.length === 1)
    held[0]?.end('late\n')
    expect(statuses(await connection.closed())).toEqual([200, 405])
    expect(asked).toEqual(['GET /slow'])
  })

  test('answers as many as fit, refuses one, and drops the rest', async () => {
    const { asked, held, port } = await start({ pipelined: 3 })
    const connection = await rawConnect(port, cleanup)
    connection.socket.write(`GET /slow HTTP/1.1\r\n${HOST}\r\n${comment.repeat(30)}`)
    await eventually(() => held.length === 1)
    held[0]?.end('late\n')
    expect(statuses(await connection.closed())).toEqual([200, 200, 200, 503])
    expect(asked).toEqual(['GET /slow', 'POST /comment', 'POST /comment'])
  })
})

test('answers the last request that a client announces, and ignores what follows', async () => {
  const { asked, port } = await start()
  for (const behind of [comment, 'no HTTP at all\r\n\r\n']) {
    const connection = await rawConnect(port, cleanup)
    connection.socket.write(closing + behind)
    const text = await connection.closed()
    expect([statuses(text), text.includes('answer to /last')]).toEqual([[200], true])
  }
  expect(asked).toEqual(['GET /last', 'GET /last'])
})

test('makes each request wait for those before it, and gives each its own answer', async () => {
  const { asked, held, port } = await start()
  const connection: RawConnection = await rawConnect(port, cleanup)
  connection.socket.write(`GET /slow HTTP/1.1\r\n${HOST}\r\n${comment}${closing}`)
  await eventually(() => held.length === 1)
  expect(asked).toEqual(['GET /slow'])
  held[0]?.end('late\n')
  const text = await connection.closed()
  expect(statuses(text)).toEqual([200, 200, 200])
  expect(text.match(/late|answer to \/\w+/g)).toEqual(['late', 'answer to /comment', 'answer to /last'])
})

test('never runs what waits behind an answer when the visitor has left', async () => {
  const { asked, held, port } = await start()
  const connection = await rawConnect(port, cleanup)
  connection.socket.write(`GET /slow HTTP/1.1\r\n${HOST}\r\n${comment}`)
  await eventually(() => held.length === 1)
  const gone = new Promise((resolve) => held[0]?.once('close', resolve))
  connection.socket.destroy()
  await gone
  expect(asked).toEqual(['GET /slow'])
})
