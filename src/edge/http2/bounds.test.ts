/** The limits of a visitor over HTTP/2, and what happens beyond them. */
import { once } from 'node:events'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, test } from 'vitest'
import { budgetOf } from '../../../test/support/budget.ts'
import { endWithBody } from '../cache/send-entry.ts'
import { createInFlightLimiter } from '../gateway/in-flight.ts'
import { createCleanup, eventually, routeTo, startEcho, startHost } from '../test-support.ts'
import { handled, type Rule, type Visit } from '../visit.ts'
import {
  askOn,
  END_HEADERS,
  END_STREAM,
  FRAMES,
  fields,
  frame,
  GET,
  openRaw,
  openSession,
  startSecureEdge,
} from './test-support.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const CALM = 11
const get = (stream: number, more: Record<string, string> = {}) =>
  frame(FRAMES.headers, END_STREAM | END_HEADERS, stream, fields({ ...GET, ...more }))
const post = (stream: number) => frame(FRAMES.headers, END_HEADERS, stream, fields({ ...GET, ':method': 'POST' }))
const number = (value: number) => Buffer.from([value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255])

/** Starts a host that answers only on command, and an edge before it. */
async function start(more: Parameters<typeof startSecureEdge>[2] = {}) {
  const asked: { answer: () => void }[] = []
  const upstream = await startHost(cleanup, (request, response) => {
    request.resume()
    response.on('error', () => {})
    if (request.url === '/quick') response.end('quick')
    else asked.push({ answer: () => void response.end('late') })
  })
  const edge = await startSecureEdge(cleanup, { 'site.test': routeTo(upstream) }, more)
  return { ...edge, asked }
}

describe('requests of a connection', () => {
  test('run 100 at a time; the next is refused, and may be sent again', async () => {
    const { port, asked } = await start()
    const session = await openSession(port, cleanup)
    expect(session.remoteSettings).toMatchObject({
      maxConcurrentStreams: 100,
      maxHeaderListSize: 32_768,
      enablePush: false,
    })
    const raw = await openRaw(port, cleanup)
    raw.send(...Array.from({ length: 101 }, (_, i) => get(i * 2 + 1)))
    await eventually(() => raw.frames.some(({ type }) => type === FRAMES.reset))
    await eventually(() => asked.length === 100)
    expect(raw.frames.find(({ type }) => type === FRAMES.reset)).toMatchObject({ stream: 201, payload: number(7) })
  })

  test('count as connections of their visitor, except the first', async () => {
    const connections = budgetOf(10, 3)
    const { port, asked } = await start({ connections })
    const session = await openSession(port, cleanup)
    const held = [1, 2, 3].map(() => askOn(session))
    await eventually(() => asked.length === 3)
    expect(connections.used).toBe(3)
    expect((await askOn(session)).reset).toBe(7)
    for (const { answer } of asked) answer()
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200])
    await eventually(() => connections.used === 1)
    session.destroy()
    await eventually(() => connections.used === 0)
  })

  test('have a bounded head, in as many cookies as a browser likes', async () => {
    const { port } = await start()
    const session = await openSession(port, cleanup)
    const large = await askOn(session, { ':path': '/quick', 'x-large': 'a'.repeat(40_000) })
    expect([large.status, large.reset]).toEqual([undefined, CALM])
    const cookie = Array.from({ length: 400 }, (_, i) => `cookie${i}=value`)
    expect((await askOn(session, { ':path': '/quick', cookie })).status).toBe(200)
  })
})

describe('a flood', () => {
  const rows: [string, (index: number) => Buffer[]][] = [
    [
      'of requests that are taken back (CVE-2023-44487)',
      (i) => [get(i * 2 + 1), frame(FRAMES.reset, 0, i * 2 + 1, number(8))],
    ],
    [
      'of requests that the server has to take back',
      (i) => [get(i * 2 + 1), frame(FRAMES.windowUpdate, 0, i * 2 + 1, number(0))],
    ],
    ['of PING', () => [frame(FRAMES.ping, 0, 0, Buffer.alloc(8))]],
    ['of SETTINGS', () => [frame(FRAMES.settings, 0, 0)]],
    ['of DATA without any', (i) => (i === 0 ? [post(1)] : [frame(FRAMES.data, 0, 1)])],
    [
      'of CONTINUATION',
      (i) => [
        i === 0 ? frame(FRAMES.headers, 0, 1, fields(GET)) : frame(FRAMES.continuation, 0, 1, fields({ 'x-a': 'b' })),
      ],
    ],
  ]
  test.each(rows)('of %s ends its connection, and delays nobody else', async (_what, make) => {
    const { port, asked } = await start()
    const other = await openSession(port, cleanup)
    const raw = await openRaw(port, cleanup)
    let sent = 0
    while (raw.socket.writable && !raw.socket.readableEnded && sent < 20_000) {
      raw.send(...Array.from({ length: 100 }, (_, i) => make(sent + i)).flat())
      sent += 100
      await new Promise((resolve) => setImmediate(resolve))
    }
    await raw.closed()
    expect(asked.length).toBeLessThan(1_000)
    expect((await askOn(other, { ':path': '/quick' })).body).toBe('quick')
  })

  test('says why its connection is ended', async () => {
    const { port } = await start()
    const raw = await openRaw(port, cleanup)
    raw.send(...Array.from({ length: 150 }, () => frame(FRAMES.ping, 0, 0, Buffer.alloc(8))))
    expect(await raw.closed()).toBe(CALM)
  })
})

/** Puts four kilobytes into the connection's table, after which each byte stands for them (RFC 7541 §6.1, §6.2.1). */
const bomb = () => {
  const [name, value] = ['x', 'a'.repeat(3_900)]
  // `fields` does not store its first field in the table. 0x40 does.
  const kept = fields({ [name]: value })
  kept[0] = 0x40
  return Buffer.concat([fields(GET), kept, Buffer.alloc(12_000, 0x80 | 62)])
}

describe('a flood of frames that Node emits no events for', () => {
  const many = (make: () => Buffer) => () => Buffer.concat(Array.from({ length: 2_000 }, make))
  test.each<[string, (index: number) => Buffer]>([
    ['WINDOW_UPDATE', many(() => frame(FRAMES.windowUpdate, 0, 0, number(1)))],
    ['PRIORITY', many(() => frame(2, 0, 1, Buffer.from([0, 0, 0, 0, 10])))],
    ['frames of no known type', many(() => frame(0x77, 0, 0, Buffer.alloc(10)))],
    ['heads that unfold into megabytes', (i) => frame(FRAMES.headers, END_STREAM | END_HEADERS, i * 2 + 1, bomb())],
    [
      'padding',
      (i) =>
        Buffer.concat([
          ...(i === 0 ? [post(1)] : []),
          ...Array.from({ length: 100 }, () => frame(FRAMES.data, 8, 1, Buffer.from([254, ...Buffer.alloc(254)]))),
        ]),
    ],
  ])('of %s ends its connection, and delays nobody else', async (_what, make) => {
    const { port, asked } = await start()
    const other = await openSession(port, cleanup)
    const raw = await openRaw(port, cleanup)
    const over = once(raw.socket, 'close')
    for (let i = 0; raw.socket.writable; i++) {
      if (!raw.socket.write(make(i))) await Promise.race([once(raw.socket, 'drain').catch(() => {}), over])
      else await new Promise((resolve) => setImmediate(resolve))
    }
    await over
    expect(asked.length).toBeLessThanOrEqual(1)
    expect((await askOn(other, { ':path': '/quick' })).body).toBe('quick')
  })
})

describe('a connection', () => {
  test('ends without requests, whatever else arrives on it', async () => {
    const { port } = await start({ limits: { headersTimeoutMs: 200 } })
    const half = await openRaw(port, cleanup)
    half.send(frame(FRAMES.headers, 0, 1, fields(GET)))
    const pinger = await openRaw(port, cleanup)
    const timer = setInterval(() => pinger.send(frame(FRAMES.ping, 0, 0, Buffer.alloc(8))), 20)
    cleanup.add(() => clearInterval(timer))
    expect([await half.closed(), await pinger.closed()]).toEqual([0, 0])
  })

  test('ends a while after its last request, and not before', async () => {
    const { port, asked } = await start({ limits: { keepAliveTimeoutMs: 50 } })
    const [busy, idle] = [await openSession(port, cleanup), await openSession(port, cleanup)]
    const reply = askOn(busy)
    await eventually(() => asked.length === 1)
    const goaway = once(idle, 'goaway')
    expect((await askOn(idle, { ':path': '/quick' })).status).toBe(200)
    expect((await goaway)[0]).toBe(0)
    asked[0]?.answer()
    expect((await reply).body).toBe('late')
  })

  test('ends when its client does not read what it requested, PING or not', async () => {
    const large = await startHost(cleanup, (_request, response) => response.end(Buffer.alloc(1 << 20)))
    const { port } = await startSecureEdge(
      cleanup,
      { 'site.test': routeTo(large) },
      { limits: { stallTimeoutMs: 100, keepAliveTimeoutMs: 50 } },
    )
    // No window: SETTINGS_INITIAL_WINDOW_SIZE of 0.
    const raw = await openRaw(port, cleanup, Buffer.from([0, 4, 0, 0, 0, 0]))
    const timer = setInterval(() => raw.send(frame(FRAMES.ping, 0, 0, Buffer.alloc(8))), 20)
    cleanup.add(() => clearInterval(timer))
    raw.send(get(1))
    await eventually(() => raw.frames.some(({ type, stream }) => type === FRAMES.reset && stream === 1))
    await raw.closed()
  })

  test('has a time limit for a body that does not end', async () => {
    const { port } = await start({ limits: { requestTimeoutMs: 500, headersTimeoutMs: 500 } })
    const raw = await openRaw(port, cleanup)
    raw.send(post(1))
    const timer = setInterval(() => raw.send(frame(FRAMES.data, 0, 1, Buffer.from('x'))), 20)
    cleanup.add(() => clearInterval(timer))
    await eventually(() => raw.frames.some(({ type, stream }) => type === FRAMES.reset && stream === 1))
  })

  test('gets GOAWAY when the edge stops, and answers to requests in flight', async () => {
    const { port, asked, gateway } = await start()
    const [busy, idle] = [await openSession(port, cleanup), await openSession(port, cleanup)]
    const reply = askOn(busy)
    await eventually(() => asked.length === 1)
    const told = [busy, idle].map((session) => once(session, 'goaway'))
    const stopped = gateway.close()
    for (const each of told) expect((await each)[0]).toBe(0)
    asked[0]?.answer()
    expect((await reply).body).toBe('late')
    await stopped
  })
})

describe('bodies', () => {
  test('take no connection to the host before they arrive, and count until then', async () => {
    const [bySite, byAddress, waitingBodies] = [budgetOf(1), budgetOf(), budgetOf()]
    const upstream = await startEcho(cleanup)
    const inFlight = createInFlightLimiter({ bySite, byAddress })
    const { port } = await startSecureEdge(cleanup, { 'site.test': routeTo(upstream) }, { inFlight, waitingBodies })
    const session = await openSession(port, cleanup)
    const streams = [1, 2, 3].map(() => session.request({ ':method': 'POST', ':path': '/', ':authority': 'site.test' }))
    for (const stream of streams) stream.write('ab')
    await eventually(() => waitingBodies.used === 6)
    expect(bySite.used).toBe(0)
    expect((await askOn(session)).status).toBe(200)
    streams[0]?.close(8)
    await eventually(() => waitingBodies.used === 4)
    streams[1]?.end('cd')
    let text = ''
    for await (const chunk of streams[1] ?? []) text += chunk
    expect(JSON.parse(text).body).toBe('abcd')
  })

  test('are cut off for others when they stall, and their senders are told', async () => {
    const clock = { ms: 0 }
    const bySite = budgetOf(1_000, 1)
    const upstream = await startEcho(cleanup)
    const inFlight = createInFlightLimiter({ bySite, byAddress: budgetOf(), now: () => clock.ms })
    const { port } = await startSecureEdge(cleanup, { 'site.test': routeTo(upstream) }, { inFlight })
    const session = await openSession(port, cleanup)
    const slow = session.request({ ':method': 'POST', ':path': '/', ':authority': 'site.test' })
    slow.on('error', () => {})
    const told = once(slow, 'response')
    slow.write(Buffer.alloc(20_000))
    await eventually(() => bySite.used === 1)
    expect((await askOn(session)).status).toBe(503)
    clock.ms = 3_000
    expect((await askOn(session)).status).toBe(200)
    expect((await told)[0][':status']).toBe(408)
  })
})

describe('a large body that its visitor does not read', () => {
  const BODY = Buffer.alloc(8 << 20, 'x')
  const PIECE = 65_536

  test.each(['h2', 'http/1.1'])('is encrypted piece by piece, and arrives completely: %s', async (protocol) => {
    const visits: Visit[] = []
    const rule: Rule = (visit) => {
      visits.push(visit)
      visit.response.writeHead(200, 'OK', ['Content-Length', String(BODY.length)])
      endWithBody(visit, {} as never, BODY, { hold() {}, release() {} } as never)
      return handled
    }
    const { port } = await startSecureEdge(cleanup, { 'site.test': routeTo('http://127.0.0.1:1') }, { rules: [rule] })
    const received = protocol === 'h2' ? await slowStream(port) : await slowConnection(port)
    await eventually(() => visits.length === 1)
    const { response } = visits[0] as Visit
    expect(response.writableLength).toBeLessThanOrEqual(2 * PIECE)
    expect(response.writableEnded).toBe(false)
    expect(await received()).toBe(BODY.length)
  })

  async function slowStream(port: number) {
    const session = await openSession(port, cleanup)
    const stream = session.request({ ':path': '/', ':authority': 'site.test' })
    stream.pause()
    return () => lengthOf(stream)
  }

  async function slowConnection(port: number) {
    const socket = connectTls({ port, host: '127.0.0.1', servername: 'site.test', rejectUnauthorized: false })
    cleanup.add(() => socket.destroy())
    socket.write('GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n')
    socket.pause()
    return async () => {
      let head = ''
      let length = 0
      for await (const chunk of socket) {
        if (!head.includes('\r\n\r\n')) head += chunk.toString('latin1')
        else length += chunk.length
      }
      return length + head.length - head.indexOf('\r\n\r\n') - 4
    }
  }
})

async function lengthOf(stream: AsyncIterable<Buffer>): Promise<number> {
  let length = 0
  for await (const chunk of stream) length += chunk.length
  return length
}
