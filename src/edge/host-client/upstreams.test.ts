import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultLimits } from '../edge-limits.ts'
import { createUpstreams, type Upstreams } from '../proxy/upstreams.ts'
import { ask, type Cleanup, createCleanup, eventually, routeTo, startGateway } from '../test-support.ts'
import { askAlive } from './ask-alive.ts'
import type { UpstreamLimits } from './host-connection.ts'
import { Connection } from './host-connection.ts'
import { type AnswerListener, type ExchangeControl, HostExchange } from './host-exchange.ts'

let cleanup: Cleanup
beforeEach(() => {
  cleanup = createCleanup()
})
afterEach(() => cleanup.run())

/** Starts a host that writes raw bytes. @param onRequest called with each head (and what came with it) */
async function rawHost(
  onRequest: (socket: Socket, text: string) => void,
): Promise<{ upstream: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.setEncoding('latin1').on('data', (text: string) => onRequest(socket, text))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.add(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { upstream: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets }
}

function open(limits: Partial<UpstreamLimits> = {}): Upstreams {
  const upstreams = createUpstreams({ ...defaultLimits.upstream, ...limits })
  cleanup.add(() => upstreams.destroy())
  return upstreams
}

interface Came {
  text: string
  control: ExchangeControl
}

/** Sends a request, and waits for the complete answer. @param onHead called when its head has arrived */
function get(
  upstreams: Upstreams,
  upstream: string,
  path = '/',
  onHead: (control: ExchangeControl) => void = () => {},
): Promise<Came> {
  return new Promise((resolve, reject) => {
    let text = ''
    const listener: AnswerListener = {
      onFirstBytes() {},
      onHead(status) {
        text += status
        onHead(control)
      },
      onData(piece) {
        text += ` ${piece.toString('latin1')}`
      },
      onEnd: () => resolve({ text, control }),
      onError: reject,
    }
    const control = upstreams.ask(upstream, { method: 'GET', path, headers: ['host', 'site.test'] }, listener)
  })
}

const ok = (body: string, more = '') => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n${more}\r\n${body}`

test('drops what a host sends before its answer unasked', async () => {
  let requests = 0
  const { upstream, sockets } = await rawHost((socket) => {
    requests++
    socket.write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n')
    setImmediate(() => socket.write(ok(`answer ${requests}`)))
  })
  for (const route of [routeTo(upstream), routeTo(upstream, { hasEdgeCache: true })]) {
    const { port } = await startGateway(cleanup, { 'site.test': route })
    for (let n = 0; n < 3; n++) {
      const reply = await ask(port)
      expect([reply.status, reply.body, reply.headers.link]).toEqual([200, `answer ${requests}`, undefined])
    }
  }
  expect(requests).toBe(6)
  expect(sockets.size).toBe(2)
})

test('closes a connection on which data arrives without a request, and delivers the data to nobody', async () => {
  const { upstream, sockets } = await rawHost((socket) => {
    socket.write(ok('first'), () => setImmediate(() => socket.write(ok('nobody’s'))))
  })
  const upstreams = open()
  expect((await get(upstreams, upstream)).text).toBe('200 first')
  await eventually(() => sockets.size === 0)
  expect((await get(upstreams, upstream)).text).toBe('200 first')
})

test('queues requests over the limit, in order, and drops those that are no longer wanted', async () => {
  const asked: string[] = []
  const { upstream, sockets } = await rawHost((socket, text) => {
    asked.push(text.split(' ')[1] as string)
    setTimeout(() => socket.write(ok('x')), 20)
  })
  const upstreams = open({ connections: 2 })
  const all = ['/1', '/2', '/3', '/4'].map((path) => get(upstreams, upstream, path))
  const gone = new Promise((resolve) => {
    const nothing = { onFirstBytes() {}, onHead() {}, onData() {}, onEnd() {} }
    const request = { method: 'GET', path: '/gone', headers: [] }
    upstreams.ask(upstream, request, { ...nothing, onError: resolve }).abort()
  })
  await expect(gone).resolves.toMatchObject({ code: 'HOST_ABORTED' })
  await Promise.all([...all, get(upstreams, upstream, '/5')])
  expect(asked).toEqual(['/1', '/2', '/3', '/4', '/5'])
  expect(sockets.size).toBe(2)
})

test('detaches an answer from its request at the end, so that it cannot touch the next one on the connection', async () => {
  const { upstream, sockets } = await rawHost((socket) => void socket.write(ok('x')))
  const upstreams = open()
  // It ends while paused, and the connection continues to read.
  const { control } = await get(upstreams, upstream, '/', (own) => own.pause())
  control.pause()
  control.abort()
  expect((await get(upstreams, upstream)).text).toBe('200 x')
  expect(sockets.size).toBe(1)
})

test('does not reuse a connection that has just ended, even before the event of its end', async () => {
  const { upstream } = await rawHost((socket) => void socket.write(ok('x')))
  const limits = { ...defaultLimits.upstream, connections: 5 }
  const free: Connection[] = []
  const owner = { limits, isFree: (connection: Connection) => void free.push(connection), isGone() {} }
  const connection = new Connection(new URL(upstream), owner)
  const listener = { onFirstBytes() {}, onHead() {}, onData() {}, onEnd() {}, onError() {} }
  connection.send(new HostExchange({ method: 'GET', path: '/', headers: [] }, listener))
  await eventually(() => free.length === 1)
  expect(connection.isUsable).toBe(true)
  connection.look(performance.now() + 100_000)
  expect(connection.isUsable).toBe(false)
})

test('closes an idle connection before the host does', async () => {
  const { upstream, sockets } = await rawHost((socket) => void socket.write(ok('x', 'Keep-Alive: timeout=2\r\n')))
  await get(open({ connectTimeoutMs: 100 }), upstream)
  await eventually(() => sockets.size === 0)
})

test.each([
  ['the head', { responseTimeoutMs: 50 }, 'HTTP/1.1 200 OK\r\n', 'HOST_HEAD_TIMEOUT'],
  ['the body', { bodyTimeoutMs: 50 }, 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc', 'HOST_BODY_TIMEOUT'],
])('stops waiting for %s after its limit', async (_what, limits, says, code) => {
  const { upstream } = await rawHost((socket) => void socket.write(says))
  await expect(get(open(limits), upstream)).rejects.toMatchObject({ code })
})

test('stops waiting for a connection after its limit', async () => {
  const { upstream } = await rawHost(() => {})
  const { promise, reject, resolve } = Promise.withResolvers<void>()
  const owner = { limits: defaultLimits.upstream, isFree() {}, isGone() {} }
  const connection = new Connection(new URL(upstream), owner)
  const listener = { onFirstBytes() {}, onHead() {}, onData() {}, onEnd: resolve, onError: reject }
  connection.send(new HostExchange({ method: 'GET', path: '/', headers: [] }, listener))
  connection.look(performance.now() + owner.limits.connectTimeoutMs - 100)
  connection.look(performance.now() + owner.limits.connectTimeoutMs + 100)
  await expect(promise).rejects.toMatchObject({ code: 'HOST_CONNECT_TIMEOUT' })
})

test('does not send what cannot be written as HTTP', async () => {
  const { upstream, sockets } = await rawHost(() => {})
  const upstreams = open()
  for (const wrong of [
    { path: '/a b' },
    { path: '/a\r\nX: y' },
    { headers: ['x', 'a\nb'] },
    { headers: ['x y', 'a'] },
    { headers: ['x', 'ü\u0100'] },
    { method: 'GET /' },
  ]) {
    const request = { method: 'GET', path: '/', headers: [], ...wrong }
    const failed = new Promise((resolve) => {
      upstreams.ask(upstream, request, { onFirstBytes() {}, onHead() {}, onData() {}, onEnd() {}, onError: resolve })
    })
    await expect(failed).resolves.toMatchObject({ code: 'HOST_BAD_REQUEST' })
  }
  expect(sockets.size).toBe(0)
})

test('closes the connection of a body that is shorter or longer than announced', async () => {
  const { upstream, sockets } = await rawHost(() => {})
  const upstreams = open()
  for (const sends of ['abc', 'abcde']) {
    const failed = new Promise((resolve) => {
      const request = {
        method: 'POST',
        path: '/',
        headers: ['content-length', '4'],
        body: (async function* () {
          yield Buffer.from(sends)
        })(),
      }
      upstreams.ask(upstream, request, { onFirstBytes() {}, onHead() {}, onData() {}, onEnd() {}, onError: resolve })
    })
    await expect(failed).resolves.toMatchObject({ code: 'HOST_BAD_REQUEST' })
    await eventually(() => sockets.size === 0)
  }
})

test('closes the connection of an answer that arrives before the complete body was sent', async () => {
  const asked = new Map<string, Socket>()
  const { upstream } = await rawHost((socket, text) => {
    asked.set(text.split(' ')[0] as string, socket)
    if (text.includes(' HTTP/1.1')) socket.write(ok('enough'))
  })
  const upstreams = open()
  const never = Promise.withResolvers<void>()
  cleanup.add(() => never.resolve())
  const ended = new Promise<void>((resolve, reject) => {
    const request = {
      method: 'POST',
      path: '/',
      headers: ['content-length', '4'],
      body: (async function* () {
        yield Buffer.from('ab')
        await never.promise
      })(),
    }
    const listener = { onFirstBytes() {}, onHead() {}, onData() {}, onEnd: resolve, onError: reject }
    upstreams.ask(upstream, request, listener)
  })
  await ended
  expect((await get(upstreams, upstream)).text).toBe('200 enough')
  expect(asked.get('GET')).not.toBe(asked.get('POST'))
})

test('a host from which nothing comes fails what waits for it, then everything at once, until it answers again', async () => {
  let isThere = true
  const asked: string[] = []
  const { upstream, sockets } = await rawHost((socket, text) => {
    asked.push(text)
    if (!text.includes(' /slow ')) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
  })
  let questions = 0
  const upstreams = createUpstreams({ ...defaultLimits.upstream, connections: 2 }, async () => {
    questions++
    return isThere
  })
  cleanup.add(() => upstreams.destroy())
  const outcome = (path: string) =>
    get(upstreams, upstream, path).then(
      () => 'answered',
      ({ code }) => code,
    )
  let isOver = false
  const slow = outcome('/slow').finally(() => {
    isOver = true
  })
  // Slow PHP is not a reason to fail, as long as the host answers on a new connection.
  await eventually(() => questions >= 2)
  expect(isOver).toBe(false)
  const others = [outcome('/slow'), outcome('/queued')]
  isThere = false
  expect(await Promise.all([slow, ...others])).toEqual(['HOST_SILENT', 'HOST_SILENT', 'HOST_SILENT'])
  await eventually(() => sockets.size === 0)
  const before = asked.length
  await expect(get(upstreams, upstream)).rejects.toMatchObject({ code: 'HOST_SILENT' })
  const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { upstreams })
  const reply = await ask(port)
  expect([reply.status, reply.headers['retry-after']]).toEqual([503, '2'])
  expect(asked.length).toBe(before)
  isThere = true
  await eventually(() =>
    get(upstreams, upstream).then(
      () => true,
      () => false,
    ),
  )
})

test('asks for life on a new connection: any answer counts, and a refusal too', async () => {
  const { upstream } = await rawHost((socket) => socket.end('HTTP/1.1 403 Forbidden\r\n\r\n'))
  expect(await askAlive(new URL(upstream))).toBe(true)
  expect(await askAlive(new URL('http://127.0.0.1:1'))).toBe(true)
  const mute = await rawHost((socket) => socket.end())
  expect(await askAlive(new URL(mute.upstream))).toBe(false)
})
