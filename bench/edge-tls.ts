import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createSecureServer, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { generate } from 'selfsigned'
import { createPageCache } from '../src/edge/cache/page-cache.ts'
import { createPurgeFeed } from '../src/edge/cache/purge/purge-feed.ts'
import { defaultLimits } from '../src/edge/edge-limits.ts'
import { createGateway } from '../src/edge/gateway/gateway.ts'
import { createUpstreams } from '../src/edge/proxy/upstreams.ts'
import { edgeRules } from '../src/edge/rules/index.ts'
import { profile } from '../src/edge/tls/profile.ts'
import { createSecureContexts } from '../src/edge/tls/secure-contexts.ts'
import { requestsPerSecond } from './support/load.ts'
import { median, type Section } from './support/report.ts'
import {
  type BenchServer,
  type CertificateFiles,
  startPart,
  startSecureHaproxy,
  startSecureNginx,
} from './support/servers.ts'

const SECONDS = 2
const ROUNDS = 3
const CONNECTIONS = 32
/** As large as the page of the edge cache's table. */
const PAGE = Buffer.alloc(29_635, '<p>Some words of a page</p>\n')
const NAME = 'localhost'

const headOfPage = { 'Content-Type': 'text/html; charset=UTF-8', 'Content-Length': PAGE.length }
/** Names of sites, requested one after the other. */
const NAMES = 100_000

/** Parts that run in a separate process. */
const parts: Record<string, (origin: string, folder: string) => Promise<Server>> = {
  origin: async () =>
    createServer((_asked, response) => {
      response
        .writeHead(200, { ...headOfPage, 'Cache-Control': 'public, max-age=600', 'X-Stead-Renderer': 'php' })
        .end(PAGE)
    }),
  /** The cost of Node itself: the page from memory, and nothing else. */
  async bare(_origin, folder) {
    const text = (name: string) => readFileSync(join(folder, name), 'utf8')
    const server = createSecureServer(
      { ...profile, cert: text('chain.pem'), key: text('key.pem'), ca: [], allowHTTP1: true },
      (request, response) => {
        if (request.httpVersionMajor === 1) response.writeHead(200, headOfPage).end(PAGE)
      },
    )
    server.on('stream', (stream: ServerHttp2Stream) => {
      stream.respond({ ':status': 200, ...headOfPage })
      stream.end(PAGE)
    })
    return server
  },
  /** With many names, each of which has a certificate. */
  async edge(upstream, folder) {
    // biome-ignore format: one record
    const route = { hostName: NAME, siteId: 7, state: 'live', hostId: 1, upstream, redirectsTo: null, isInMaintenance: false, hasEdgeCache: true, cacheEpoch: 1, hasCdn: true, cdnEpoch: 1, certifiedAt: 1 } as const
    const purges = createPurgeFeed({ since: async () => ({ newest: 0, purges: [] }) })
    await purges.refresh()
    const upstreams = createUpstreams(defaultLimits.upstream)
    const cache = createPageCache({ upstreams, hostKey: 'key', purges, memoryBytes: 128 << 20 })
    const text = (name: string) => readFileSync(join(folder, name), 'utf8')
    const certificate = { chain: text('chain.pem'), key: text('key.pem'), issuedAt: 1 }
    const gateway = createGateway({
      routes: { find: () => route },
      log: { debug() {}, warn() {}, error() {} },
      hostKey: 'key',
      upstreams,
      secureContexts: createSecureContexts({
        // One of many names, so that each certificate must be read.
        routes: { find: (hostName) => (hostName === NAME ? route : { ...route, hostName }) },
        load: async () => certificate,
      }),
      rules: edgeRules({ cache: cache.rule }),
    })
    return gateway.secureServer as NonNullable<typeof gateway.secureServer>
  },
}

/**
 * Loads a server for a few seconds.
 * @returns its rate per second
 */
type Load = (port: number) => Promise<number>

/** Opens connections one after the other, each for one request of a page, in a separate process. */
const connections =
  (how: 'full' | 'resumed' | 'names'): Load =>
  async (port) => {
    const child = fork(import.meta.filename, ['--connect', how, String(port)])
    let count: number | undefined
    child.on('message', (message) => {
      count = message as number
    })
    await once(child, 'exit')
    if (count === undefined) throw new Error('no connections')
    return count / SECONDS
  }

const overHttp1: Load = (port) =>
  requestsPerSecond({ url: `https://${NAME}:${port}/page/`, connections: CONNECTIONS, seconds: SECONDS })

/** Uses h2load with the same number of concurrent requests on each connection. */
const overHttp2 =
  (streams: number): Load =>
  async (port) => {
    const args = ['-t1', `-c${CONNECTIONS}`, `-m${streams}`, `-D${SECONDS}`, `https://${NAME}:${port}/page/`]
    const { stdout } = await promisify(execFile)('h2load', args)
    const [, done = '', failed = ''] = /(\d+) succeeded, (\d+) failed/.exec(stdout) ?? []
    if (failed !== '0' || /[1-9]\d* [345]xx/.test(stdout)) throw new Error(stdout)
    return Number(done) / SECONDS
  }

/** The work of the `--connect` process, with 16 connections at a time. */
async function connectAgainAndAgain(how: string, port: number): Promise<number> {
  const until = performance.now() + SECONDS * 1000
  let count = 0
  let next = Math.floor(Math.random() * NAMES)
  const loop = async () => {
    let session: Buffer | undefined
    let isReused = true
    while (performance.now() < until) {
      const servername = how === 'names' ? `site-${next++ % NAMES}.localhost` : NAME
      const socket = connect({
        ...{ port, host: '127.0.0.1', servername, rejectUnauthorized: false, ecdhCurve: 'X25519' },
        ...(how === 'resumed' && session && { session }),
      })
      socket.once('secureConnect', () => {
        isReused = session === undefined || socket.isSessionReused()
      })
      socket.on('session', (each) => {
        session = each
      })
      socket.write(`GET /page/ HTTP/1.1\r\nHost: ${servername}\r\nConnection: close\r\n\r\n`)
      let bytes = 0
      for await (const chunk of socket) bytes += chunk.length
      if (bytes < PAGE.length) throw new Error(`${bytes} bytes of a page`)
      if (how === 'resumed' && !isReused) throw new Error('not resumed')
      count++
    }
  }
  await Promise.all(Array.from({ length: 16 }, loop))
  return count
}

interface Measured {
  readonly rate: number
  readonly cpu: number
}

/** The servers take turns, so that other load on the machine affects all alike. */
async function compare(servers: Record<string, BenchServer>, load: Load): Promise<Record<string, Measured>> {
  const rounds: Record<string, Measured[]> = {}
  for (const server of Object.values(servers)) await load(server.port)
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, server] of Object.entries(servers)) {
      const before = server.cpuMicroseconds()
      const rate = await load(server.port)
      const cpu = (server.cpuMicroseconds() - before) / (rate * SECONDS)
      rounds[name] = [...(rounds[name] ?? []), { rate, cpu }]
    }
  return Object.fromEntries(
    Object.entries(rounds).map(([name, all]) => [
      name,
      { rate: median(all.map(({ rate }) => rate)), cpu: median(all.map(({ cpu }) => cpu)) },
    ]),
  )
}

async function makeCertificate(folder: string): Promise<CertificateFiles> {
  const made = await generate([{ name: 'commonName', value: NAME }], {
    keyType: 'ec',
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: NAME }] }],
  })
  const files = { chain: join(folder, 'chain.pem'), key: join(folder, 'key.pem'), together: join(folder, 'both.pem') }
  writeFileSync(files.chain, made.cert)
  writeFileSync(files.key, made.private)
  writeFileSync(files.together, `${made.cert}\n${made.private}`)
  return files
}

const text = ({ rate, cpu }: Measured) => `${Math.round(rate).toLocaleString('en')}/s, ${cpu.toFixed(1)} µs`

/** The cost of TLS in an edge process, beside one worker of Debian's nginx and one thread of Debian's haproxy. */
export async function edgeTlsBench(): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'stead-bench-'))
  const files = await makeCertificate(folder)
  const origin = await startPart(import.meta.filename, 'origin')
  const address = `127.0.0.1:${origin.port}`
  const stead = await startPart(import.meta.filename, 'edge', `http://${address}`, folder)
  const nginx = await startSecureNginx(address, files)
  const haproxy = await startSecureHaproxy(address, files)
  const bare = await startPart(import.meta.filename, 'bare', '', folder)
  const servers = { stead, 'Node alone': bare, nginx, haproxy }
  const rows: [string, Load][] = [
    ['new connections, full handshakes', connections('full')],
    ['new connections, resumed', connections('resumed')],
    [`new connections, full, ${NAMES} names in turn`, connections('names')],
    ['cached page, HTTP/1.1 over TLS', overHttp1],
    ['cached page, HTTP/2, one at a time', overHttp2(1)],
    ['cached page, HTTP/2, ten at a time', overHttp2(10)],
  ]
  try {
    const figures = []
    for (const [what, load] of rows) {
      const all = await compare(servers, load)
      const { stead: own, ...others } = all as { stead: Measured } & Record<string, Measured>
      for (const [name, other] of Object.entries(others)) {
        const ratio = `${(other.cpu / own.cpu).toFixed(2)} a core`
        figures.push({ what, value: text(own), yardstick: `${name}: ${text(other)}`, ratio })
      }
    }
    return {
      title: 'Edge over TLS',
      how: `One edge process, a minimal Node server with the page in memory, one nginx worker, and one haproxy thread with their caches take turns in front of the same origin. They use TLS 1.3 and an ECDSA P-256 certificate, ${ROUNDS} times ${SECONDS} s, and the numbers are medians. The page has ${PAGE.length} bytes. New connections use X25519, with one request each, 16 at a time, from a client in Node. With many names, the edge holds 400 ready for use, and the other servers have one certificate for all. The client wrk measures HTTP/1.1 and h2load HTTP/2, with ${CONNECTIONS} connections. Processor time is that of all processes of the server. The ratio compares the work per core with the reference.`,
      figures,
    }
  } finally {
    for (const server of [bare, haproxy, nginx, stead, origin]) await server.stop()
    rmSync(folder, { recursive: true })
  }
}

const [, , mode, first = '', second = '', third = ''] = process.argv
if (mode === '--part') {
  const server = await (parts[first] as (typeof parts)[string])(second, third)
  process.once('SIGINT', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
} else if (mode === '--connect') {
  process.send?.(await connectAgainAndAgain(first, Number(second)))
  process.disconnect?.()
}
