/** Visitors who send or read slowly: what they hold, and which of them is cut off when others need it. */
import type { IncomingMessage } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { budgetOf } from '../../../test/support/budget.ts'
import {
  ask,
  createCleanup,
  eventually,
  rawConnect,
  rawRequest,
  routeTo,
  startEcho,
  startGateway,
  startHost,
} from '../test-support.ts'
import type { GatewayOptions } from './gateway.ts'
import { createInFlightLimiter } from './in-flight.ts'

const cleanup = createCleanup()
afterEach(() => cleanup.run())

const HEAD = 'POST /upload HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n'
/** More than the edge collects before it asks a host. */
const MUCH = 'x'.repeat(20_000)

/** Starts an echo host with budgets for this many requests, and a clock that the test sets. */
async function start(most: { site?: number; address?: number } = {}, more: Partial<GatewayOptions> = {}) {
  const clock = { ms: 0 }
  const bySite = budgetOf(1_000, most.site)
  const byAddress = budgetOf(1_000, most.address)
  const waitingBodies = budgetOf()
  const upstream = await startEcho(cleanup)
  const routes = { 'site.test': routeTo(upstream), 'other.test': routeTo(upstream, { siteId: 8 }) }
  const inFlight = createInFlightLimiter({ bySite, byAddress, now: () => clock.ms })
  const { port } = await startGateway(cleanup, routes, { inFlight, waitingBodies, ...more })
  const send = async (bytes: string) => {
    const connection = await rawConnect(port, cleanup)
    connection.socket.write(bytes)
    return connection
  }
  return { clock, bySite, byAddress, waitingBodies, port, send }
}

describe('a body that does not arrive', () => {
  test('takes no connection to the host until it arrives', async () => {
    const { bySite, waitingBodies, port, send } = await start({ site: 1 })
    const slow = await Promise.all([1, 2, 3].map(() => send(`${HEAD}Content-Length: 4\r\n\r\nab`)))
    const chunked = await send(`${HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n`)
    await eventually(() => waitingBodies.used === 8)
    expect(bySite.used).toBe(0)
    expect((await ask(port)).status).toBe(200)
    for (const { socket, closed } of slow) {
      socket.write('cd')
      expect(await closed()).toContain('"body":"abcd"')
    }
    chunked.socket.write('0\r\n\r\n')
    expect(await chunked.closed()).toContain('"body":"ab"')
    await eventually(() => bySite.used === 0 && waitingBodies.used === 0)
  })

  test('is requested with 100 Continue before the wait', async () => {
    const { send } = await start()
    const { socket, until, closed } = await send(`${HEAD}Expect: 100-continue\r\nContent-Length: 4\r\n\r\n`)
    await until((text) => text === 'HTTP/1.1 100 Continue\r\n\r\n')
    socket.write('body')
    expect(await closed()).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 [\s\S]*"body":"body"/)
  })

  test('goes to the host as it arrives if there is no memory for it', async () => {
    const { bySite, send } = await start({}, { waitingBodies: budgetOf(1) })
    const { socket, closed } = await send(`${HEAD}Content-Length: 4\r\n\r\nab`)
    await eventually(() => bySite.used === 1)
    socket.write('cd')
    expect(await closed()).toContain('"body":"abcd"')
  })

  test('leaves nothing behind when its sender leaves', async () => {
    const { waitingBodies, send } = await start()
    const { socket } = await send(`${HEAD}Content-Length: 4\r\n\r\nab`)
    await eventually(() => waitingBodies.used === 2)
    socket.destroy()
    await eventually(() => waitingBodies.used === 0)
  })

  test('does not hold up the next request when its own is refused', async () => {
    const { port } = await start({ site: 0 })
    const bytes = `POST / HTTP/1.1\r\nHost: site.test\r\nContent-Length: ${MUCH.length}\r\n\r\n${MUCH}`
    const next = 'GET / HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n'
    const text = await rawRequest(port, cleanup, bytes + next)
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 503', 'HTTP/1.1 503'])
  })
})

describe('when no more requests may be in flight', () => {
  const half = `${HEAD}Content-Length: 40000\r\n\r\n${MUCH}`

  test.each([{ site: 2 }, { address: 2 }])(
    'cuts off visitors who have sent nothing for two seconds, the slowest first: %o',
    async (most) => {
      const { clock, bySite, port, send } = await start(most)
      const first = await send(half)
      await eventually(() => bySite.used === 1)
      clock.ms = 1_000
      const second = await send(half)
      await eventually(() => bySite.used === 2)
      expect((await ask(port)).status).toBe(503)
      clock.ms = 3_500
      expect((await ask(port)).status).toBe(200)
      expect(await first.closed()).toMatch(/^HTTP\/1.1 408 /)
      second.socket.write(MUCH)
      expect(await second.closed()).toMatch(/^HTTP\/1.1 200 /)
      await eventually(() => bySite.used === 0)
    },
  )

  test('cuts off a visitor who sends byte by byte, and spares one who sends steadily', async () => {
    const pieces: string[] = []
    const upstream = await startHost(cleanup, (request: IncomingMessage, response) => {
      request.on('data', (piece) => pieces.push(`${piece}`))
      request.on('end', () => response.end('done'))
    })
    const clock = { ms: 0 }
    const bySite = budgetOf(2)
    const inFlight = createInFlightLimiter({ bySite, byAddress: budgetOf(), now: () => clock.ms })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { inFlight })
    const uploads = await Promise.all([1, 2].map(() => rawConnect(port, cleanup)))
    const [slow, steady] = uploads as [(typeof uploads)[0], (typeof uploads)[0]]
    for (const { socket } of uploads) socket.write(`${HEAD}Content-Length: 400000\r\n\r\n${MUCH}`)
    await eventually(() => bySite.used === 2 && pieces.join('').length === 40_000)
    for (clock.ms = 1_000; clock.ms < 40_000; clock.ms += 1_000) {
      const before = pieces.join('').length
      slow.socket.write('s')
      steady.socket.write('t'.repeat(2_000))
      await eventually(() => pieces.join('').length === before + 2_001)
    }
    const third = await ask(port)
    expect(third.body).toBe('done')
    expect(await slow.closed()).toMatch(/^HTTP\/1.1 408 /)
    expect(steady.text()).toBe('')
  })

  test('cuts off a visitor who does not read an answer, and spares one whose page is being made', async () => {
    const made: (() => void)[] = []
    const upstream = await startHost(cleanup, (request, response) => {
      if (request.url === '/made') made.push(() => response.end('made'))
      else response.end(Buffer.alloc(request.url === '/large' ? 32 << 20 : 10))
    })
    const clock = { ms: 0 }
    const inFlight = createInFlightLimiter({ bySite: budgetOf(2), byAddress: budgetOf(), now: () => clock.ms })
    const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { inFlight })
    const page = ask(port, '/made')
    await eventually(() => made.length === 1)
    const reader = await rawConnect(port, cleanup)
    reader.socket.pause()
    reader.socket.write('GET /large HTTP/1.1\r\nHost: site.test\r\n\r\n')
    // Until the kernel buffers are full, the reader keeps nobody waiting.
    await eventually(async () => {
      clock.ms += 2_500
      return (await ask(port)).status === 200
    })
    reader.socket.resume()
    expect((await reader.closed()).length).toBeLessThan(32 << 20)
    made[0]?.()
    expect((await page).body).toBe('made')
  })
})

test('bounds the memory of unread answers: cuts off the slowest, and spares readers', async () => {
  let cutOff = 0
  const upstream = await startHost(cleanup, (_request, response) => {
    response.end(Buffer.alloc(32 << 20))
    response.once('close', () => {
      if (!response.writableFinished) cutOff++
    })
  })
  const clock = { ms: 0 }
  const passing = budgetOf(400 << 10)
  const inFlight = createInFlightLimiter({ bySite: budgetOf(), byAddress: budgetOf(), passing, now: () => clock.ms })
  const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { inFlight })
  const read = async () => {
    const { socket, closed } = await rawConnect(port, cleanup)
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n')
    return { socket, closed }
  }
  const first = await read()
  await eventually(() => passing.used === 192 << 10)
  clock.ms = 1_000
  const second = await read()
  await eventually(() => passing.used === 384 << 10)
  clock.ms = 2_500
  const third = await read()
  await eventually(() => cutOff === 1)
  first.socket.resume()
  expect((await first.closed()).length).toBeLessThan(32 << 20)
  for (const { socket, closed } of [second, third]) {
    socket.resume()
    expect((await closed()).length).toBeGreaterThan(32 << 20)
  }
  await eventually(() => passing.used === 0)
})
