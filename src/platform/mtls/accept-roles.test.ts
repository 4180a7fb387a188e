import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect as connectPlain, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { DAY_MS } from '../durations.ts'
import { acceptRoles } from './accept-roles.ts'
import { connectToRole, secureAddress } from './connect-to-role.ts'
import { ownerOf, type RoleName } from './role-name.ts'
import type { RoleTrust } from './role-trust.ts'
import { type TestAuthority, testAuthority } from './test-support.ts'

const h1: RoleName = { role: 'host', name: 'h1' }
const e1: RoleName = { role: 'edge', name: 'e1' }

/** Longer than a test may take. */
const KEPT_MS = 600_000

let server: Server
let ours: TestAuthority
let trust: RoleTrust
let port: number
let isPlainAllowed: boolean
let refused: string[]
let asked: string[]
let end: () => void

beforeEach(async () => {
  isPlainAllowed = false
  refused = []
  asked = []
  ours = await testAuthority()
  trust = await ours.trustOf(h1)
  server = createServer((request, response) => {
    asked.push(request.url as string)
    response.end('page')
  })
  server.keepAliveTimeout = KEPT_MS
  end = acceptRoles(server, {
    ...{ trust, roles: ['edge'] },
    isPlainAllowed: () => isPlainAllowed,
    onRefused: (reason) => void refused.push(reason),
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})
afterEach(async () => {
  const closed = once(server, 'close')
  server.close()
  end()
  await closed
})

const REQUEST = 'GET /secret HTTP/1.1\r\nhost: a\r\n\r\n'

/** Sends a request when the connection is ready. @returns what came back when it has ended, or the page */
async function exchange(socket: Socket, ready: string): Promise<string> {
  let text = ''
  socket.on('error', (error: NodeJS.ErrnoException) => {
    text += error.code
  })
  socket.once(ready, () => socket.write(REQUEST))
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
    socket.on('data', (piece) => {
      text += String(piece)
      if (text.endsWith('page')) resolve()
    })
  })
  socket.destroy()
  return text
}
const url = (name = 'h1') => new URL(secureAddress(`http://127.0.0.1:${port}`, name))
const askAs = async (by: RoleTrust, name?: string) => exchange(connectToRole(url(name), by, 'host'), 'secureConnect')

test('an edge with a certificate gets an answer, on a kept connection', async () => {
  const socket = connectToRole(url(), await ours.trustOf(e1), 'host')
  await once(socket, 'secureConnect')
  for (let n = 0; n < 3; n++) {
    socket.write(REQUEST)
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/page$/)
  }
  expect(refused).toEqual([])
  socket.destroy()
})

test('a client is refused without a certificate, with a foreign one, an expired one, or one of another role', async () => {
  const foreign = await testAuthority()
  const none = connect({
    port,
    host: '127.0.0.1',
    ca: [...ours.known.authorities],
    checkServerIdentity: () => undefined,
  })
  expect(await exchange(none, 'secureConnect')).not.toContain('page')
  // It trusts the host, but has a certificate of another installation.
  expect(await askAs(await foreign.trustOf(e1, ours.known))).not.toContain('page')
  const old = await ours.issue(e1, Date.now() - 31 * DAY_MS)
  const expired = await ours.trustOf(e1)
  expired.use(old, ours.known)
  expect(await askAs(expired)).not.toContain('page')
  expect(await askAs(await ours.trustOf({ role: 'host', name: 'h2' }))).not.toContain('page')
  expect(asked).toEqual([])
  // Said at most once a second.
  expect(refused.length).toBeGreaterThan(0)
})

test('says why a certificate is refused', async () => {
  await askAs(await ours.trustOf({ role: 'host', name: 'h2' }))
  expect(refused).toEqual(['it is host h2, not edge'])
})

test('a revoked certificate is refused, and closes the connections that it has', async () => {
  const edge = await ours.trustOf(e1)
  const socket = connectToRole(url(), edge, 'host')
  await once(socket, 'secureConnect')
  socket.write(REQUEST)
  await once(socket, 'data')
  const closed = once(socket, 'close')
  trust.use(await ours.issue(h1), { ...ours.known, revoked: [edge.serial] })
  await closed
  expect(await askAs(edge)).not.toContain('page')
  expect(await askAs(await ours.trustOf(e1))).toContain('page')
  expect(asked.length).toBe(2)
})

test('a connection is closed when the certificate of its peer expires', async () => {
  let now = Date.now()
  const other = createServer((_request, response) => response.end('page'))
  other.keepAliveTimeout = KEPT_MS
  const { RoleTrust } = await import('./role-trust.ts')
  const watched = new RoleTrust(await ours.issue(h1), ours.known, () => now)
  const endOther = acceptRoles(other, { trust: watched, roles: ['edge'], isPlainAllowed: () => false, onRefused() {} })
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const at = new URL(secureAddress(`http://127.0.0.1:${(other.address() as AddressInfo).port}`, 'h1'))
  const socket = connectToRole(at, await ours.trustOf(e1), 'host')
  await once(socket, 'secureConnect')
  socket.write(REQUEST)
  await once(socket, 'data')
  now += 31 * DAY_MS
  const closed = once(socket, 'close')
  watched.tell()
  await closed
  other.close()
  endOther()
})

test.each([
  ['a foreign one', async () => (await testAuthority()).trustOf(h1), 'h1'],
  ['an edge', async () => ours.trustOf({ role: 'edge', name: 'h1' }), 'h1'],
  ['another host', async () => ours.trustOf({ role: 'host', name: 'h2' }), 'h1'],
  ['a revoked one', async () => ours.trustOf(h1), 'h1'],
])('a client sends nothing to a server with the certificate of %s', async (what, make, name) => {
  const false1 = await make()
  const edge = await ours.trustOf(e1, what === 'a revoked one' ? { revoked: [false1.serial] } : {})
  let received = ''
  const impostor = createServer((_request, response) => response.end('page'))
  acceptRoles(impostor, { trust: false1, roles: ['edge', 'host'], isPlainAllowed: () => false, onRefused() {} })
  impostor.on('request', ({ url: path }) => {
    received += path
  })
  impostor.listen(0, '127.0.0.1')
  await once(impostor, 'listening')
  const at = new URL(secureAddress(`http://127.0.0.1:${(impostor.address() as AddressInfo).port}`, name))
  expect(await exchange(connectToRole(at, edge, 'host') as TLSSocket, 'secureConnect')).not.toContain('page')
  expect(received).toBe('')
  impostor.close()
  impostor.closeAllConnections()
})

test('without TLS it answers 403, unless edges of an earlier version run', async () => {
  const ask = () => exchange(connectPlain(port, '127.0.0.1'), 'connect')
  expect(await ask()).toMatch(/^HTTP\/1\.1 403 .*requires TLS/s)
  expect(asked).toEqual([])
  isPlainAllowed = true
  expect(await ask()).toMatch(/page$/)
})

test('a certificate with two names, or with none of a role, has no owner', () => {
  for (const subjectAltName of [
    'URI:host:h1, URI:edge:h1',
    'URI:dns:h1',
    'DNS:h1',
    undefined,
    'URI:host:',
    'URI:host:%zz',
  ])
    expect(ownerOf({ subjectAltName })).toBeUndefined()
  expect(ownerOf({ subjectAltName: 'URI:host:h%201' })).toEqual({ role: 'host', name: 'h 1' })
})
