/** Requests of an edge to a host on another machine, over TLS with certificates of both. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acceptRoles } from '../../platform/mtls/accept-roles.ts'
import { secureAddress } from '../../platform/mtls/connect-to-role.ts'
import type { RoleName } from '../../platform/mtls/role-name.ts'
import type { RoleTrust } from '../../platform/mtls/role-trust.ts'
import { type TestAuthority, testAuthority } from '../../platform/mtls/test-support.ts'
import { defaultLimits } from '../edge-limits.ts'
import { createUpstreams } from '../proxy/upstreams.ts'
import { ask, type Cleanup, createCleanup, eventually, routeTo, startGateway } from '../test-support.ts'
import { askAlive } from './ask-alive.ts'
import { Connection } from './host-connection.ts'
import { HostExchange } from './host-exchange.ts'

const h1: RoleName = { role: 'host', name: 'h1' }
let cleanup: Cleanup
let ours: TestAuthority
beforeEach(async () => {
  cleanup = createCleanup()
  ours = await testAuthority()
})
afterEach(() => cleanup.run())

async function secureHost(listener: RequestListener, owner = h1) {
  const sockets = new Set<unknown>()
  const server = createServer((request, response) => {
    sockets.add(request.socket)
    listener(request, response)
  })
  // Longer than a test may take.
  server.keepAliveTimeout = 600_000
  const options = { roles: ['edge'] as const, isPlainAllowed: () => false, onRefused() {} }
  const end = acceptRoles(server, { ...options, trust: await ours.trustOf(owner) })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.add(() => {
    server.close()
    end()
  })
  return { upstream: secureAddress(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'h1'), sockets }
}

async function edgeOf(upstream: string, trust?: RoleTrust) {
  const upstreams = createUpstreams({ ...defaultLimits.upstream, connections: 1 }, askAlive, trust)
  cleanup.add(() => upstreams.destroy())
  const { port } = await startGateway(cleanup, { 'site.test': routeTo(upstream) }, { upstreams })
  return port
}

test('answers and uploads of any size go over one kept connection', async () => {
  const { upstream, sockets } = await secureHost((request, response) => {
    let bytes = 0
    request.on('data', (piece: Buffer) => {
      bytes += piece.length
    })
    request.on('end', () => response.end(request.url === '/big' ? 'x'.repeat(3_000_000) : `got ${bytes}`))
  })
  const port = await edgeOf(upstream, await ours.trustOf({ role: 'edge', name: 'e1' }))
  expect((await ask(port)).body).toBe('got 0')
  expect((await ask(port, '/', { method: 'POST', body: Buffer.alloc(2_000_000) })).body).toBe('got 2000000')
  expect((await ask(port, '/big')).body.length).toBe(3_000_000)
  expect(sockets.size).toBe(1)
})

test('a host with the certificate of another gets no request, and the visitor an error', async () => {
  const asked: unknown[] = []
  const { upstream } = await secureHost(
    (request, response) => {
      asked.push(request.url)
      response.end()
    },
    { role: 'host', name: 'h2' },
  )
  const port = await edgeOf(upstream, await ours.trustOf({ role: 'edge', name: 'e1' }))
  expect((await ask(port)).status).toBe(502)
  expect((await ask(await edgeOf(upstream))).status).toBe(502)
  expect(asked).toEqual([])
})

test('the connections to a host whose certificate was revoked are closed, and the next request fails', async () => {
  let isAsked = false
  const { upstream, sockets } = await secureHost((request, response) => {
    if (request.url === '/slow') isAsked = true
    else response.end('page')
  })
  const edge = await ours.trustOf({ role: 'edge', name: 'e1' })
  const port = await edgeOf(upstream, edge)
  expect((await ask(port)).body).toBe('page')
  const [socket] = [...sockets] as { destroyed: boolean; getX509Certificate(): { serialNumber: string } }[]
  const serial = socket?.getX509Certificate().serialNumber as string
  const slow = ask(port, '/slow')
  await eventually(() => isAsked)
  edge.use(await ours.issue({ role: 'edge', name: 'e1' }), { ...ours.known, revoked: [serial] })
  expect((await slow).status).toBe(502)
  expect((await ask(port)).status).toBe(502)
})

test('a host that requires TLS counts as alive, without a certificate', async () => {
  const { upstream } = await secureHost((_request, response) => response.end('page'))
  expect(await askAlive(new URL(upstream))).toBe(true)
})

test('a connection that has just ended is not taken for one to an untrusted host', async () => {
  const { upstream } = await secureHost(() => {})
  const trust = await ours.trustOf({ role: 'edge', name: 'e1' })
  const owner = { limits: defaultLimits.upstream, trust, isFree() {}, isGone() {} }
  const connection = new Connection(new URL(upstream), owner)
  const ended = Promise.withResolvers<NodeJS.ErrnoException>()
  const listener = {
    onFirstBytes() {},
    onHead() {},
    onData() {},
    onEnd() {},
    onError: (error: Error) => ended.resolve(error),
  }
  const exchange = new HostExchange({ method: 'GET', path: '/', headers: ['host', 'site.test'] }, listener)
  connection.send(exchange)
  await eventually(() => exchange.isSent)
  connection.close()
  connection.checkPeer()
  expect((await ended.promise).code).toBe('HOST_CLOSED')
})
