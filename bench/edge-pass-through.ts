/**
 * The cost of a response that the edge passes through: requests per second and CPU per request of the gateway process.
 * The same run measures a bare node:http server with the same answer, and a host's static file.
 *
 *   node bench/edge-pass-through.ts [seconds]
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { createGateway } from '../src/edge/gateway/gateway.ts'
import { createWebServer } from '../src/hosting/web-server/web-server.ts'
import { testHeld } from '../test/support/site-directory.ts'

const KEY = 'key'
const silent = { debug() {}, warn() {}, error() {} }
const BODY = Buffer.alloc(600, 'x')

const parts: Record<string, (argument: string) => Server> = {
  bare: () =>
    createServer((_request, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html', 'Content-Length': BODY.length }).end(BODY)
    }),
  edge: (upstream) => {
    // biome-ignore format: one record
    const route = { hostName: 'site.test', siteId: 7, state: 'live', hostId: 1, upstream, redirectsTo: null, isInMaintenance: false, hasEdgeCache: false, cacheEpoch: 0, hasCdn: false, cdnEpoch: 0 } as const
    return createGateway({ routes: { find: () => route }, log: silent, hostKey: KEY }).server
  },
  host: (folder) => {
    // biome-ignore format: one record
    const site = { siteId: 7, siteDirectory: folder, corePath: folder, phpVersion: '8.3', uid: null, address: 'site.test', state: 'live' } as const
    const php = { wake() {}, isAwake: () => true, handle: () => Promise.reject(new Error('no PHP here')) }
    return createWebServer({
      siteById: async () => site,
      php,
      ...testHeld(folder),
      hostKey: KEY,
      httpsPort: 443,
      log: silent,
      mostBodyBytes: 1,
    })
  },
}

interface Part {
  readonly port: number
  cpuMicroseconds(): Promise<number>
  stop(): void
}

async function start(name: string, argument = ''): Promise<Part> {
  const child: ChildProcess = fork(import.meta.filename, ['--part', name, argument])
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    async cpuMicroseconds() {
      child.send('cpu')
      return (await once(child, 'message'))[0] as number
    },
    stop: () => child.kill(),
  }
}

async function measure(label: string, part: Part, path: string, seconds: number): Promise<void> {
  const url = `http://127.0.0.1:${part.port}${path}`
  const headers = {
    host: 'site.test',
    'x-stead-key': KEY,
    'x-stead-site': '7',
    'user-agent':
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
    'accept-encoding': 'gzip, deflate, br',
    'accept-language': 'en-GB,en;q=0.5',
  }
  await autocannon({ url, headers, connections: 16, duration: 1 })
  const before = await part.cpuMicroseconds()
  const result = await autocannon({ url, headers, connections: 16, duration: seconds })
  const cpu = (await part.cpuMicroseconds()) - before
  const good = result['2xx']
  const rate = Math.round(good / result.duration)
  console.log(
    `${label.padEnd(34)} ${String(rate).padStart(7)} requests/s  ${(cpu / good).toFixed(0).padStart(4)} µs CPU a request  → ${String(Math.round(1e6 / (cpu / good))).padStart(6)} requests/s a core${result.non2xx ? `  ${result.non2xx} not 2xx!` : ''}`,
  )
}

async function main(seconds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'stead-bench-'))
  mkdirSync(join(folder, 'web'))
  writeFileSync(join(folder, 'web/small.css'), BODY)
  const bare = await start('bare')
  const host = await start('host', folder)
  const edge = await start('edge', `http://127.0.0.1:${bare.port}`)
  try {
    await measure('bare node:http', bare, '/', seconds)
    await measure('edge, passed through to it', edge, '/', seconds)
    await measure('host, static file of 600 bytes', host, '/small.css', seconds)
  } finally {
    for (const part of [edge, host, bare]) part.stop()
    rmSync(folder, { recursive: true })
  }
}

if (process.argv[2] === '--part') {
  const server = (parts[process.argv[3] as string] as (typeof parts)[string])(process.argv[4] ?? '')
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
} else {
  await main(Number(process.argv[2] ?? 5))
}
