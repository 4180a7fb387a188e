/** The path of a request without PHP: visitor → edge → host, over real sockets. */
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { defaultLimits } from '../src/edge/edge-limits.ts'
import { createGateway, type Gateway } from '../src/edge/gateway/gateway.ts'
import type { AccessEntry } from '../src/edge/records/access-log.ts'
import type { Route } from '../src/edge/routing/route.ts'
import type { VisitorRequest } from '../src/hosting/php/pool/pool.ts'
import { PhpAbandoned, PhpBodyTooLarge, type PhpResponse } from '../src/hosting/php/runtime.ts'
import { createWebServer } from '../src/hosting/web-server/web-server.ts'
import { testHeld } from './support/site-directory.ts'

const KEY = 'the-key-of-this-host'
const log = { debug() {}, warn() {}, error() {} }

let folder: string
let host: Server
let gateway: Gateway
let port: number
let entries: AccessEntry[]
let php: (siteId: number, request: VisitorRequest, signal?: AbortSignal) => PhpResponse | Promise<PhpResponse>

beforeEach(async () => {
  entries = []
  folder = await mkdtemp(join(tmpdir(), 'stead-way-'))
  await mkdir(join(folder, 'web'))
  await writeFile(join(folder, 'web/style.css'), 'body{}')
  host = createWebServer({
    // biome-ignore format: one record
    siteById: async (siteId) => ({ siteId, siteDirectory: folder, corePath: folder, phpVersion: '8.3', uid: null, address: 'x', state: 'live' }),
    php: { wake() {}, isAwake: () => true, handle: async (site, request, signal) => php(site.siteId, request, signal) },
    ...testHeld(folder),
    hostKey: KEY,
    httpsPort: 443,
    log,
    mostBodyBytes: 1 << 20,
  })
  const upstream = `http://127.0.0.1:${await listen(host)}`
  const sites: Record<string, number> = { 'one.test': 1, 'two.test': 2 }
  const route = (hostName: string): Route | undefined =>
    // biome-ignore format: one record
    sites[hostName] ? { hostName, siteId: sites[hostName], state: 'live', hostId: 1, upstream, redirectsTo: null, isInMaintenance: false, hasEdgeCache: false, cacheEpoch: 0, hasCdn: false, cdnEpoch: 0 } : undefined
  gateway = createGateway({
    routes: { find: route },
    log,
    hostKey: KEY,
    onAccess: (entry) => void entries.push(entry),
    // One connection for both sites, so that each would notice what the other does to it.
    limits: { upstream: { ...defaultLimits.upstream, connections: 1 } },
  })
  port = await listen(gateway.server)
})

afterEach(async () => {
  gateway.server.closeAllConnections()
  await gateway.close()
  host.closeAllConnections()
  await new Promise((resolve) => host.close(resolve))
  await rm(folder, { recursive: true, force: true })
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function ask(
  hostName: string,
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: Buffer } = {},
) {
  const { method = 'GET', headers, body } = options
  const request = httpRequest({
    port,
    host: '127.0.0.1',
    path,
    method,
    headers: { host: hostName, ...headers },
    agent: false,
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  request.on('error', () => {})
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, headers: response.headers, text }
}

const page = (text: string, headers: string[] = []): PhpResponse => ({
  status: 200,
  headers,
  body: Readable.from([Buffer.from(text)]),
})

test('a file and a page arrive, and the log names their source', async () => {
  php = (siteId, request) => page(`${siteId} ${request.host} ${request.remoteAddress} ${request.https} ${request.path}`)
  expect((await ask('one.test', '/style.css')).text).toBe('body{}')
  const reply = await ask('two.test', '/hello?x=1', { headers: { 'x-forwarded-for': '9.9.9.9', 'x-stead-site': '1' } })
  expect(reply.text).toBe('2 two.test 127.0.0.1 false /hello?x=1')
  expect(Object.keys(reply.headers).filter((name) => name.startsWith('x-stead'))).toEqual([])
  expect(
    entries.map(({ siteId, renderer, status, body_bytes_sent }) => [siteId, renderer, status, body_bytes_sent]),
  ).toEqual([
    [1, 'static', 200, 6],
    [2, 'php', 200, reply.text.length],
  ])
})

test('a site that prints more than it announced does not answer for another site', async () => {
  const forged = 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged'
  php = (siteId) => (siteId === 1 ? page(`hello${forged}`, ['Content-Length', '5']) : page('mine'))
  for (let i = 0; i < 20; i++) {
    const [one, two] = await Promise.all([ask('one.test', '/'), ask('two.test', '/')])
    expect([one.text, two.text]).toEqual(['hello', 'mine'])
  }
})

test('413 reaches a visitor who keeps sending, announced or not, and the connection stays open', async () => {
  php = async (_siteId, request) => {
    let bytes = 0
    for await (const chunk of request.body ?? []) {
      bytes += (chunk as Buffer).length
      if (bytes > 1 << 20) throw new PhpBodyTooLarge('too long')
    }
    return page(String(bytes))
  }
  const large = Buffer.alloc(6 << 20)
  for (let i = 0; i < 5; i++) {
    const announced = { 'content-length': String(large.length) }
    expect((await ask('one.test', '/', { method: 'POST', body: large, headers: announced })).status).toBe(413)
    const chunked = { 'transfer-encoding': 'chunked' }
    expect((await ask('one.test', '/', { method: 'POST', body: large, headers: chunked })).status).toBe(413)
    expect((await ask('one.test', '/', { method: 'POST', body: Buffer.alloc(1 << 20) })).text).toBe(String(1 << 20))
  }
})

test('PHP is notified when the visitor disconnects', async () => {
  const events: string[] = []
  php = (_siteId, _request, signal) => {
    signal?.addEventListener('abort', () => events.push('gone'))
    events.push('asked')
    return new Promise(() => {})
  }
  const socket = connect(port, '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nHost: one.test\r\n\r\n')
  while (!events.includes('asked')) await new Promise(setImmediate)
  socket.destroy()
  while (!events.includes('gone')) await new Promise(setImmediate)
})

test('a page is not run twice when the connection to the host breaks meanwhile, unless it was still waiting', async () => {
  const begun: string[] = []
  php = (_siteId, { path }, signal) => {
    begun.push(path)
    if (path === '/' || begun.length > 1) return page(path)
    host.closeAllConnections()
    return new Promise((_resolve, reject) => {
      const leave = () => reject(new PhpAbandoned('it left the queue'))
      if (path === '/waiting') signal?.addEventListener('abort', leave)
    })
  }
  // The connection is a kept one, as usual.
  for (const [path, status] of [
    ['/running', 502],
    ['/waiting', 200],
  ] as const) {
    await ask('one.test', '/')
    begun.length = 0
    expect((await ask('one.test', path)).status).toBe(status)
    expect(begun).toEqual(status === 200 ? [path, path] : [path])
  }
})
