/** Visitors over TLS: real sockets, two gateways as two edge processes. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Budget } from '../../platform/budgets/budget.ts'
import { edgeRules } from '../rules/index.ts'
import { createToHttps } from '../rules/to-https.ts'
import { ask, createCleanup, eventually, listen, routeTo, startEcho, startGateway } from '../test-support.ts'
import { createSecureContexts } from './secure-contexts.ts'

const cleanup = createCleanup()
afterAll(() => cleanup.run())

const certificateOf = async (name: string) => {
  const made = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: name }] }],
  })
  return { chain: made.cert, key: made.private, issuedAt: 1 }
}

let certificates: Record<string, Awaited<ReturnType<typeof certificateOf>>>
let routes: Record<string, ReturnType<typeof routeTo>>
let upstream: string
const ticketKeys = randomBytes(48)
const loads: string[] = []

beforeAll(async () => {
  upstream = await startEcho(cleanup)
  const names = ['site.test', 'other.test', 'strict.test']
  certificates = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await certificateOf(name)])))
  routes = {
    'site.test': routeTo(upstream, { certifiedAt: 1 }),
    'other.test': routeTo(upstream, { hostName: 'other.test', certifiedAt: 1 }),
    'strict.test': routeTo(upstream, { hostName: 'strict.test', certifiedAt: 1, forceTls: true }),
    'waiting.test': routeTo(upstream, { hostName: 'waiting.test', forceTls: true }),
    'ended.test': routeTo(upstream, { hostName: 'ended.test', certifiedAt: 1, certifiedUntil: 2, forceTls: true }),
    'broken.test': routeTo(upstream, { hostName: 'broken.test', certifiedAt: 1 }),
  }
})

async function startEdge(more: Parameters<typeof startGateway>[2] = {}, most?: number) {
  const contexts = createSecureContexts({
    routes: { find: (name) => routes[name] },
    async load(name) {
      loads.push(name)
      if (name === 'broken.test') throw new Error('no database')
      return certificates[name]
    },
    ...(most && { most }),
  })
  const rules = edgeRules({ toHttps: createToHttps(8443) })
  const { gateway, port } = await startGateway(cleanup, routes, { secureContexts: contexts, rules, ...more })
  const server = gateway.secureServer as NonNullable<typeof gateway.secureServer>
  server.setTicketKeys(ticketKeys)
  const tlsPort = await listen(server)
  cleanup.add(() => server.closeAllConnections())
  return { port, tlsPort, gateway }
}

/** Makes a handshake. Resolves with the error of one that fails. */
async function shake(port: number, servername: string, more: ConnectionOptions = {}): Promise<TLSSocket> {
  const ca = certificates[servername]?.chain
  const socket = connect({ port, host: '127.0.0.1', servername, ...(ca && { ca }), ...more })
  cleanup.add(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

/** Sends one request over TLS. */
async function askSecurely(port: number, host: string, options: { headers?: object; method?: string } = {}) {
  const request = httpsRequest({
    ...{ port, host: '127.0.0.1', servername: host, ca: certificates[host]?.chain, agent: false },
    method: options.method ?? 'GET',
    headers: { host, ...options.headers },
  })
  request.end()
  const [response] = await once(request, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString() }
}

test('connects a visitor over TLS to the site, and tells its host that it was https, whatever the headers say', async () => {
  const { tlsPort, port } = await startEdge()
  const secure = await askSecurely(tlsPort, 'site.test', { headers: { 'x-forwarded-proto': 'http' } })
  expect(secure.status).toBe(200)
  expect(JSON.parse(secure.body).headers['x-forwarded-proto']).toBe('https')
  const plain = await ask(port, '/', { headers: { 'x-forwarded-proto': 'https' } })
  expect(JSON.parse(plain.body).headers['x-forwarded-proto']).toBe('http')
})

test('uses the certificate of each name, in upper or lower case', async () => {
  const { tlsPort } = await startEdge()
  for (const name of ['site.test', 'other.test']) {
    const socket = await shake(tlsPort, name)
    expect([name, socket.getPeerCertificate().subject.CN]).toEqual([name, name])
  }
  const loud = await shake(tlsPort, 'SITE.test', { ca: certificates['site.test']?.chain as string })
  expect(loud.getPeerCertificate().subject.CN).toBe('site.test')
})

test('sends an alert for a name without a certificate, and serves others meanwhile', async () => {
  const { tlsPort, port } = await startEdge()
  for (const name of ['unknown.test', 'waiting.test', 'broken.test', 'a..b']) {
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const failed = await shake(tlsPort, name, { maxVersion, rejectUnauthorized: false }).catch((error) => error)
      expect([name, failed.code]).toEqual([name, 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'])
    }
  }
  expect((await askSecurely(tlsPort, 'site.test')).status).toBe(200)
  expect((await ask(port)).status).toBe(200)
})

test('closes a plain-text connection to the TLS port without an answer', async () => {
  const { tlsPort, gateway } = await startEdge()
  let unreadable = 0
  gateway.secureServer?.on('clientError', () => unreadable++)
  const socket = connectPlain(tlsPort, '127.0.0.1')
  cleanup.add(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: site.test\r\n\r\n')
  await once(socket, 'close')
  expect([text.includes('HTTP/'), unreadable]).toEqual([false, 0])
})

describe('the intermediate profile', () => {
  test('accepts TLS 1.2 and 1.3, but not 1.1', async () => {
    const { tlsPort } = await startEdge()
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await shake(tlsPort, 'site.test', { minVersion: version, maxVersion: version })
      expect(socket.getProtocol()).toBe(version)
    }
    // As weak as the client's own library allows, so that it is the server that refuses.
    const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const
    const failed = await shake(tlsPort, 'site.test', old).catch((error) => error)
    expect(failed.code).toBe('ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION')
  })

  test.each(['ECDHE-ECDSA-AES128-SHA256', 'ECDHE-ECDSA-AES256-SHA', 'AES128-GCM-SHA256'])('no %s', async (ciphers) => {
    const { tlsPort } = await startEdge()
    const weak = { maxVersion: 'TLSv1.2', ciphers: `${ciphers}:@SECLEVEL=0` } as const
    const failed = await shake(tlsPort, 'site.test', weak).catch((error) => error)
    expect(failed.code).toBe('ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE')
  })
})

test.each([
  ['TLSv1.3', 'TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256', 'TLS_AES_128_GCM_SHA256'],
  ['TLSv1.3', 'TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256'],
  ['TLSv1.2', 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-ECDSA-AES128-GCM-SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
] as const)(
  'chooses the fastest cipher, unless the client puts ChaCha20 first: %s %s',
  async (version, ciphers, chosen) => {
    const { tlsPort } = await startEdge()
    const socket = await shake(tlsPort, 'site.test', { minVersion: version, maxVersion: version, ciphers })
    expect(socket.getCipher().name).toBe(chosen)
  },
)

describe.each(['TLSv1.2', 'TLSv1.3'] as const)('a session of %s', (maxVersion) => {
  const sessionOf = async (port: number) => {
    const socket = await shake(port, 'site.test', { maxVersion })
    let session = socket.getSession()
    socket.on('session', (each) => {
      session = each
    })
    socket.write('GET / HTTP/1.1\r\nhost: site.test\r\nconnection: close\r\n\r\n')
    socket.resume()
    await once(socket, 'close')
    return session as Buffer
  }

  test('resumes in another edge process', async () => {
    const one = await startEdge()
    const two = await startEdge()
    const session = await sessionOf(one.tlsPort)
    const again = await shake(two.tlsPort, 'site.test', { maxVersion, session })
    expect(again.isSessionReused()).toBe(true)
  })

  test('ends with the key of its ticket', async () => {
    const one = await startEdge()
    const session = await sessionOf(one.tlsPort)
    const other = randomBytes(48)
    one.gateway.secureServer?.setTicketKeys(other)
    const again = await shake(one.tlsPort, 'site.test', { maxVersion, session })
    expect(again.isSessionReused()).toBe(false)
  })
})

test('reads a certificate once, and again when it was replaced', async () => {
  const { tlsPort } = await startEdge()
  loads.length = 0
  for (let times = 0; times < 3; times++) await shake(tlsPort, 'site.test')
  expect(loads).toEqual(['site.test'])
  const before = certificates['site.test'] as NonNullable<(typeof certificates)[string]>
  certificates['site.test'] = { ...(await certificateOf('site.test')), issuedAt: 2 }
  routes['site.test'] = routeTo(upstream, { certifiedAt: 2 })
  await expect(shake(tlsPort, 'site.test', { ca: before.chain })).rejects.toThrow()
  const socket = await shake(tlsPort, 'site.test')
  expect(socket.authorized).toBe(true)
  expect(loads).toEqual(['site.test', 'site.test'])
})

test('bounds the certificates in memory', async () => {
  const { tlsPort } = await startEdge({}, 1)
  loads.length = 0
  for (const name of ['site.test', 'other.test', 'site.test']) await shake(tlsPort, name)
  expect(loads).toEqual(['site.test', 'other.test', 'site.test'])
})

describe('names with https only', () => {
  test('redirects plain http there with path and query, and keeps the method of requests with a body', async () => {
    const { port } = await startEdge()
    const get = await ask(port, '/a?b=c', { host: 'strict.test' })
    expect([get.status, get.headers.location]).toEqual([301, 'https://strict.test:8443/a?b=c'])
    const post = await ask(port, '/', { host: 'strict.test', method: 'POST', body: 'x' })
    expect(post.status).toBe(308)
    expect(get.headers['strict-transport-security']).toBeUndefined()
  })

  test('does not redirect without a certificate', async () => {
    const { port } = await startEdge()
    for (const host of ['waiting.test', 'ended.test']) expect((await ask(port, '/', { host })).status).toBe(200)
  })

  test('tells browsers to stay there, and no others', async () => {
    const { tlsPort } = await startEdge()
    const strict = await askSecurely(tlsPort, 'strict.test')
    expect([strict.status, strict.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000'])
    expect((await askSecurely(tlsPort, 'site.test')).headers['strict-transport-security']).toBeUndefined()
  })
})

test('counts handshakes, and the reasons of failed ones', async () => {
  const counted: string[] = []
  const { tlsPort } = await startEdge({
    limits: { headersTimeoutMs: 200 },
    metrics: {
      handshake: (version, isResumed) => void counted.push(`${version} ${isResumed}`),
      handshakeFailure: (reason) => void counted.push(reason),
    },
  })
  await shake(tlsPort, 'site.test', { maxVersion: 'TLSv1.2' })
  const refused = [
    shake(tlsPort, 'waiting.test', { maxVersion: 'TLSv1.2', rejectUnauthorized: false }),
    shake(tlsPort, 'waiting.test', { rejectUnauthorized: false }),
    shake(tlsPort, '', { rejectUnauthorized: false }),
    shake(tlsPort, 'site.test', { ALPNProtocols: ['tea'] }),
    shake(tlsPort, 'site.test', { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA:@SECLEVEL=0' }),
  ]
  await Promise.allSettled(refused)
  connectPlain(tlsPort, '127.0.0.1').on('error', () => {})
  connectPlain(tlsPort, '127.0.0.1')
    .on('error', () => {})
    .write('GET / HTTP/1.1\r\n\r\n')
  await eventually(() => counted.length === 8)
  const [unknown, unshared] = ['unknown_name', 'no_shared_protocol']
  expect(counted.toSorted()).toEqual([
    'TLSv1.2 false',
    unshared,
    unshared,
    'other',
    'timeout',
    unknown,
    unknown,
    unknown,
  ])
})

test('counts the connections of an address over http and https together', async () => {
  const connections = new Budget({
    name: 'connections',
    what: '',
    of: 'count',
    whose: 'address',
    each: 2,
    all: 10,
    over: '',
  })
  const { tlsPort, port } = await startEdge({ connections })
  const one = await shake(tlsPort, 'site.test')
  const two = await shake(tlsPort, 'site.test')
  await expect(shake(tlsPort, 'site.test')).rejects.toThrow()
  expect((await ask(port)).status).toBe(503)
  one.destroy()
  two.destroy()
  await eventually(async () => (await ask(port)).status === 200)
})

test('does not wait for unfinished handshakes on stop', async () => {
  const { tlsPort, gateway } = await startEdge({ limits: { closeTimeoutMs: 50, headersTimeoutMs: 900_000 } })
  const silent = connectPlain(tlsPort, '127.0.0.1')
  silent.on('error', () => {})
  await once(silent, 'connect')
  const seen = once(silent, 'close')
  await gateway.close()
  await seen
})
