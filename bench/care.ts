import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Server } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { generate } from 'selfsigned'
import { whyElsewhere } from '../src/certificates/points-here.ts'
import { createGateway } from '../src/edge/gateway/gateway.ts'
import { createPageAsker } from '../src/edge/monitor/ask-page.ts'
import { askTls } from '../src/edge/monitor/ask-tls.ts'
import { addUptime, reportMonitor, sitesToAsk, storeStates } from '../src/edge/monitor/monitor.store.ts'
import { SiteMonitor } from '../src/edge/monitor/monitor.ts'
import { loadRoute, routeChangesSince } from '../src/edge/routing/routes.store.ts'
import { createRouteTable } from '../src/edge/routing/routes.ts'
import { createSecureContexts } from '../src/edge/tls/secure-contexts.ts'
import { openDatabase } from '../src/platform/db/database.ts'
import { dayOf } from '../src/platform/log-store/days.ts'
import { testDatabase } from '../test/support/database.ts'
import { fillWithMany } from '../test/support/many.ts'
import type { Section } from './support/report.ts'
import { startPart } from './support/servers.ts'

const SITES = 10_000
const SECONDS = 60
const KEY = 'key'

/** What it costs an edge to ask many sites: questions, answers of the edge itself, names, handshakes, and records. */
export async function careBench(): Promise<Section> {
  const { database, connection, drop } = await testDatabase('sqlite')
  let questions = 0
  const host = createServer((_request, response) => {
    questions++
    response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(host, 'listening')
  const names = await startNames()
  try {
    const { port } = host.address() as AddressInfo
    await database.transaction(async (tx) => {
      await fillWithMany(tx, { sites: SITES, collaboratorsASite: 1, logEntriesASite: 0 })
      await sql`update hosts set address = ${`http://127.0.0.1:${port}`}`.execute(tx)
      await sql`update sites set primary_domain = 'www.' || name || '.example'`.execute(tx)
      await sql`insert into routes (host_name, site_id, is_domain, changed_at)
        select primary_domain, id, 1, 1 from sites`.execute(tx)
      await sql`insert into certificates (host_name, site_id, force_tls, wanted_at, due_at, failures, issued_at)
        select primary_domain, id, 0, 1, 1, 0, 1 from sites`.execute(tx)
    })
    const edge = await startPart(import.meta.filename, JSON.stringify({ file: connection.file, names: names.port }))
    // The first minute reads all routes.
    await pause(90_000)
    const [before, begun] = [edge.cpuMicroseconds(), questions]
    await pause(SECONDS * 1000)
    const perQuestion = (edge.cpuMicroseconds() - before) / (questions - begun)
    await edge.stop()
    return {
      title: 'Monitoring',
      how: `One edge asks ${SITES} sites, over real connections to its own listeners. No page is cached, so the host answers each question with 204. The processor time is that of the edge process, which does nothing else, by question.`,
      figures: [
        { what: 'processor time of a question', value: `${perQuestion.toFixed(0)} µs`, aim: '180 µs' },
        {
          what: `${SITES} questions a minute`,
          value: `${((perQuestion * SITES) / 600_000).toFixed(1)} % of a core`,
          aim: '3 %',
        },
      ],
    }
  } finally {
    host.close()
    names.close()
    await drop()
  }
}

/** A DNS server that answers each question for an IPv4 address with 127.0.0.1. */
async function startNames() {
  const socket = createSocket('udp4').bind(0, '127.0.0.1')
  await once(socket, 'listening')
  socket.on('message', (query, from) => {
    const end = query.indexOf(0, 12) + 5
    const isIpv4 = query.readUInt16BE(end - 4) === 1
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180, 2)
    head.writeUInt16BE(isIpv4 ? 1 : 0, 6)
    head.writeUInt32BE(0, 8)
    const record = Buffer.from('c00c00010001000000040004' + '7f000001', 'hex')
    socket.send(Buffer.concat([head, query.subarray(12, end), ...(isIpv4 ? [record] : [])]), from.port, from.address)
  })
  return { port: socket.address().port, close: () => socket.close() }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function runEdge({ file, names }: { file: string; names: number }): Promise<void> {
  const database = await openDatabase({ file })
  const made = await generate([{ name: 'commonName', value: 'example' }], {
    ...{ keyType: 'ec', algorithm: 'sha256' },
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: '*.example' }] }],
  })
  const log = {
    debug() {},
    warn: (facts: object) => console.error(facts),
    error: (facts: object) => console.error(facts),
  }
  const routes = createRouteTable({
    load: (hostName) => loadRoute(database.read, hostName),
    changesSince: (seq) => routeChangesSince(database.read, seq),
  })
  const secureContexts = createSecureContexts({
    routes,
    load: async () => ({ chain: made.cert, key: made.private, issuedAt: 1 }),
  })
  const gateway = createGateway({ routes, log, hostKey: KEY, secureContexts })
  const port = await listen(gateway.server)
  const tlsPort = await listen(gateway.secureServer as unknown as Server)
  let isLoaded = false
  const monitor = new SiteMonitor({
    routes,
    pages: createPageAsker({ url: `http://127.0.0.1:${port}`, gateway, key: KEY }),
    addressOf: ({ hostName }) => ({ scheme: 'https', host: hostName }),
    askTls: async (hostName) => {
      await askTls(hostName, { host: '127.0.0.1', port: tlsPort }, KEY)
      return undefined
    },
    askDns: (hostName) => whyElsewhere(hostName, { addresses: ['127.0.0.1'], resolvers: [`127.0.0.1:${names}`] }),
    loadSites: async () => {
      if (isLoaded) return undefined
      isLoaded = true
      return sitesToAsk(database.read, 0, SITES)
    },
    loadStates: async () => new Map(),
    storeStates: async (rows) => {
      if (rows.length > 0)
        await database.transaction((tx) =>
          storeStates(
            tx,
            rows.map((row) => ({ ...row, edge: 'edge' })),
          ),
        )
    },
    storeCounts: async (rows) => {
      for (let at = 0; at < rows.length; at += 500)
        await database.transaction((tx) =>
          addUptime(
            tx,
            rows.slice(at, at + 500).map((row) => ({ ...row, day: dayOf(Date.now()) })),
          ),
        )
      await database.transaction((tx) => reportMonitor(tx, 'edge', Date.now()))
    },
    log,
  })
  setInterval(() => void monitor.tick(), 1000)
  process.once('SIGTERM', () => void monitor.stop().then(() => process.exit(0)))
  process.send?.(0)
}

if (process.argv[2] === '--part') await runEdge(JSON.parse(process.argv[3] as string))
