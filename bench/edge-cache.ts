import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { createPageCache } from '../src/edge/cache/page-cache.ts'
import { createPurgeFeed } from '../src/edge/cache/purge/purge-feed.ts'
import { defaultLimits } from '../src/edge/edge-limits.ts'
import { createGateway } from '../src/edge/gateway/gateway.ts'
import { createUpstreams } from '../src/edge/proxy/upstreams.ts'
import { edgeRules } from '../src/edge/rules/index.ts'
import { requestsPerSecond } from './support/load.ts'
import { median, type Section } from './support/report.ts'
import { type BenchServer, startNginx, startPart, startVarnish } from './support/servers.ts'

const SECONDS = 4
const ROUNDS = 3
const CONNECTIONS = 32
/** Compresses about as well as the front page of a fresh site. */
const PAGE = Buffer.from(`<!doctype html><title>A page</title>${words(4400)}`)
const FILE = Buffer.from('a { color: red }\n'.repeat(600))
/** Where the origin reports the number of requests. */
const ANSWERED = '/answered'
const VISITS = 3_000
const PAGES = 400
const headers = {
  'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
  Accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Accept-Language': 'en-GB,en;q=0.5',
  Host: 'site.test',
}

/** Pseudo-random numbers, the same in each run. */
function numbers(): (below: number) => number {
  let seed = 1
  return (below) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % below
  }
}

/** Pseudo-random text, the same in each run. */
function words(count: number): string {
  const next = numbers()
  const all = Array.from({ length: 600 }, () => (next(36 ** 6) + 36).toString(36).slice(0, 2 + next(7)))
  const text = Array.from({ length: count }, (_, i) =>
    i % 12 === 0 ? `</p>\n<p class="w${next(9)}">` : all[next(600)],
  )
  return text.join(' ')
}

/** Parts that run in a separate process. */
const parts: Record<string, (origin: string) => Promise<Server>> = {
  /** Answers like a host: a page by PHP, a file, and a page that must not be stored. */
  origin: async () => {
    let answered = 0
    return createServer((asked, response) => {
      if (asked.url === ANSWERED) return void response.end(String(answered))
      answered++
      const isFile = asked.url?.startsWith('/files/') === true
      const own = asked.url?.startsWith('/uncached/') === true && { 'Cache-Control': 'no-store' }
      const body = isFile ? FILE : PAGE
      response.writeHead(200, {
        'Content-Type': isFile ? 'text/css' : 'text/html; charset=UTF-8',
        'Content-Length': body.length,
        'X-Stead-Renderer': isFile ? 'static' : 'php',
        ...(isFile && { 'Cache-Control': 'public, max-age=86400' }),
        ...own,
      })
      response.end(body)
    })
  },
  async edge(upstream) {
    // biome-ignore format: one record
    const route = { hostName: 'site.test', siteId: 7, state: 'live', hostId: 1, upstream, redirectsTo: null, isInMaintenance: false, hasEdgeCache: true, cacheEpoch: 1, hasCdn: true, cdnEpoch: 1 } as const
    const purges = createPurgeFeed({ since: async () => ({ newest: 0, purges: [] }) })
    await purges.refresh()
    const upstreams = createUpstreams(defaultLimits.upstream)
    const cache = createPageCache({ upstreams, hostKey: 'key', purges, memoryBytes: 128 << 20 })
    const log = { debug() {}, warn() {}, error() {} }
    return createGateway({
      routes: { find: () => route },
      log,
      hostKey: 'key',
      upstreams,
      rules: edgeRules({ cache: cache.rule }),
    }).server
  },
}

interface Measured {
  readonly rate: number
  readonly cpu: number
}

async function measure(server: BenchServer, path: string, more: Record<string, string>): Promise<Measured> {
  const load = {
    url: `http://127.0.0.1:${server.port}${path}`,
    headers: { ...headers, ...more },
    connections: CONNECTIONS,
    seconds: SECONDS,
  }
  const before = server.cpuMicroseconds()
  const rate = await requestsPerSecond(load)
  return { rate, cpu: (server.cpuMicroseconds() - before) / (rate * SECONDS) }
}

/** The servers take turns, so that other load on the machine affects all alike. */
async function compare(
  servers: Record<string, BenchServer>,
  path: string,
  more: Record<string, string> = {},
): Promise<Record<string, Measured>> {
  for (const server of Object.values(servers)) await warm(server, path, more)
  const rounds: Record<string, Measured[]> = {}
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, server] of Object.entries(servers))
      rounds[name] = [...(rounds[name] ?? []), await measure(server, path, more)]
  return Object.fromEntries(
    Object.entries(rounds).map(([name, all]) => [
      name,
      { rate: median(all.map(({ rate }) => rate)), cpu: median(all.map(({ cpu }) => cpu)) },
    ]),
  )
}

async function warm(server: BenchServer, path: string, more: Record<string, string>): Promise<void> {
  for (let i = 0; i < 3; i++) {
    const [response] = await once(
      request({ port: server.port, host: '127.0.0.1', path, headers: { ...headers, ...more } }).end(),
      'response',
    )
    if (response.statusCode !== 200) throw new Error(`${path}: ${response.statusCode}`)
    response.resume()
    await once(response, 'end')
  }
  await requestsPerSecond({
    url: `http://127.0.0.1:${server.port}${path}`,
    headers,
    connections: CONNECTIONS,
    seconds: 1,
  })
}

/**
 * The share of visits that never reach the origin. A few pages have most visits, a third of the visits come from
 * campaigns, and half of the browsers send a cookie that only scripts read.
 */
async function hitRate(server: BenchServer, origin: BenchServer): Promise<number> {
  const pool = new Pool(`http://127.0.0.1:${server.port}`, { connections: CONNECTIONS })
  const answered = async () => Number(await (await fetch(`http://127.0.0.1:${origin.port}${ANSWERED}`)).text())
  const next = numbers()
  const before = await answered()
  const visitor = async () => {
    for (let visit = 0; visit < VISITS / CONNECTIONS; visit++) {
      const page = Math.floor(PAGES * (next(1_000) / 1_000) ** 3)
      const campaign = next(3) === 0 ? `?utm_source=mail${next(20)}` : ''
      const cookie = next(2) === 0 ? { Cookie: `_ga=GA1.1.${next(1e6)}` } : {}
      const answer = await pool.request({
        method: 'GET',
        path: `/visits/${page}/${campaign}`,
        headers: { ...headers, ...cookie },
      })
      await answer.body.dump({ limit: Number.POSITIVE_INFINITY })
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, visitor))
  await pool.close()
  return 1 - ((await answered()) - before) / (Math.ceil(VISITS / CONNECTIONS) * CONNECTIONS)
}

const percent = (part: number) => `${(100 * part).toFixed(1)} %`

const text = ({ rate, cpu }: Measured) => `${Math.round(rate).toLocaleString('en')}/s, ${cpu.toFixed(1)} µs`

/**
 * The throughput of an edge process per core, beside Debian's varnish and one worker of Debian's nginx on the same
 * pages.
 */
export async function edgeCacheBench(): Promise<Section> {
  const folder = mkdtempSync(join(tmpdir(), 'stead-bench-'))
  mkdirSync(join(folder, 'files'))
  writeFileSync(join(folder, 'files/a.css'), FILE)
  const origin = await startPart(import.meta.filename, 'origin')
  const address = `127.0.0.1:${origin.port}`
  const stead = await startPart(import.meta.filename, 'edge', `http://${address}`)
  const nginx = await startNginx(address, join(folder, 'files'))
  const varnish = await startVarnish(address)
  try {
    const page = await compare({ stead, nginx, varnish }, '/page/')
    const coded = await compare({ stead, nginx, varnish }, '/page/', { 'Accept-Encoding': 'gzip, deflate, br, zstd' })
    const file = await compare({ stead, nginx, varnish }, '/files/a.css')
    const uncached = await compare({ stead, nginx }, '/uncached/')
    const hits = {
      stead: await hitRate(stead, origin),
      nginx: await hitRate(nginx, origin),
      varnish: await hitRate(varnish, origin),
    }
    const hitRow = (other: 'nginx' | 'varnish') => ({
      what: 'visits that never reach the origin',
      value: percent(hits.stead),
      yardstick: `${other}: ${percent(hits[other])}`,
      ratio: (hits.stead / hits[other]).toFixed(2),
      aim: '≥ 1',
    })
    const row = (what: string, all: Record<string, Measured>, other: string, aim: string) => ({
      what,
      value: text(all.stead as Measured),
      yardstick: `${other}: ${text(all[other] as Measured)}`,
      ratio: `${((all[other] as Measured).cpu / (all.stead as Measured).cpu).toFixed(2)} a core`,
      aim,
    })
    return {
      title: 'Edge cache',
      how: `One edge process, one nginx worker (proxy_cache; sendfile for the file), and varnish with its default rules take turns in front of the same origin. The client wrk uses ${CONNECTIONS} connections, ${ROUNDS} times ${SECONDS} s, and the numbers are medians. The page has ${PAGE.length} bytes and the file ${FILE.length} bytes. Responses are uncompressed unless the row says otherwise. For the compressed page, wrk sends the Accept-Encoding of a browser. Stead and varnish then serve stored variants, and nginx compresses with gzip on. Processor time is that of all processes of the server. The ratio compares requests per core with the reference. For the last rows, ${CONNECTIONS} browsers make ${VISITS} visits to ${PAGES} pages, few of which have most visits. A third of the visits have a campaign parameter (utm_source), and half of them a cookie of analytics. The ratio compares the parts that the origin does not see.`,
      figures: [
        row('cached page', page, 'varnish', '≥ 1'),
        row('cached page', page, 'nginx', '≥ 0.7'),
        row('cached page, compressed', coded, 'varnish', '≥ 1'),
        row('cached page, compressed', coded, 'nginx', '≥ 0.7'),
        row('static file', file, 'varnish', '≥ 1'),
        row('static file', file, 'nginx', '≥ 0.7'),
        row('uncached page, passed through', uncached, 'nginx', ''),
        hitRow('nginx'),
        hitRow('varnish'),
      ],
    }
  } finally {
    for (const server of [varnish, nginx, stead, origin]) await server.stop()
    rmSync(folder, { recursive: true })
  }
}

if (process.argv[2] === '--part') {
  const server = await (parts[process.argv[3] as string] as (typeof parts)[string])(process.argv[4] ?? '')
  process.once('SIGINT', () => process.exit())
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
}
