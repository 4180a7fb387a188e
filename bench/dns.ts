import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { changeZone, recordOf } from '../src/dns/test-support.ts'
import { openDatabase } from '../src/platform/db/database.ts'
import { type Stead, startStead, until } from '../test/support/stead.ts'
import type { Figure, Section } from './support/report.ts'
import { cpuOf, freePort } from './support/servers.ts'

const run = promisify(execFile)
const HOSTS = 1000
const SECONDS = 8
const WARM_SECONDS = 3
/** More names than any server caches. */
const ONCE = 1_000_000
const FLOOD = 10_000
const name = 'bench.test'

/** A name server under test. */
interface Server {
  readonly port: number
  readonly pid: number
}

/** The name server beside NSD and Knot, with the same zone. */
export async function dnsBench(): Promise<Section> {
  const folder = await mkdtemp(join(tmpdir(), 'stead-bench-dns-'))
  const port = await freePort()
  const env = { STEAD_DNS_LISTEN: `127.0.0.1:${port}`, STEAD_DNS_PROCESSES: '1', STEAD_DNS_RATE_LIMIT: '0' }
  const stead = await startStead({ golden: false, env: { ...env, STEAD_CORE_SOURCE: '/nonexistent' } })
  const others: { kill(): void }[] = []
  try {
    const zoneId = await makeZone(stead)
    const own: Server = { port, pid: stead.role('dns')?.pid as number }
    const start = async (program: (folder: string, port: number) => Promise<string[]>) => {
      const server = { port: await freePort(), pid: 0 }
      const [command = '', ...words] = await program(folder, server.port)
      const child = spawn(command, words, { stdio: 'ignore' })
      others.push(child)
      return { ...server, pid: child.pid as number }
    }
    const nsd = await start(nsdCommand)
    const knot = await start(knotCommand)
    const echo = await start(echoCommand)
    const there = await questions(folder, 'there', HOSTS, (at) => `host${at}.${name} A`)
    const missing = await questions(folder, 'missing', HOSTS, (at) => `no${at}.${name} A`)
    const never = await questions(folder, 'never', ONCE, (at) => `no${at}.${name} A`)
    for (const server of [own, nsd, knot]) await untilAnswered(server)
    // Gives compilers time before the measurement.
    for (const server of [echo, own, nsd, knot]) await run('dnsperf', wordsOf(server, { file: there }, WARM_SECONDS))
    const figures = [
      await alone('echo server with Node’s dgram', { file: there }, echo),
      ...(await beside('existing A record', there, own, { NSD: nsd, Knot: knot })),
      ...(await beside('missing name', missing, own, { NSD: nsd, Knot: knot })),
      ...(await beside('… the first query', never, own, { NSD: nsd })),
    ]
    await stead.api('PUT', `/v1/zones/${zoneId}/dnssec`, { enabled: true })
    await until('the zone is signed', async () => (await dig(own, name, 'DNSKEY')).includes('257 3 13'))
    figures.push(
      await alone('A record, signed, with signatures', { file: there, isSigned: true }, own),
      await alone('proof that a name is missing, 500 a second', { file: never, isSigned: true, most: 500 }, own),
    )
    const flood = spawn('dnsperf', wordsOf(own, { file: never, isSigned: true, most: FLOOD }, 4 * SECONDS), {
      stdio: 'ignore',
    })
    others.push(flood)
    figures.push(await alone(`A record, while ${FLOOD} made-up names a second are to be proven`, { file: there }, own))
    return {
      title: 'Name server',
      how: `One process each serves a zone of ${HOSTS} names, over UDP on loopback. dnsperf (one thread, 16 sockets) queries for ${SECONDS} s as fast as it gets responses. Processor time is that of the server’s processes per response. The ratio compares responses per core with the other server. NSD and Knot do not sign here. The first row is a program that only returns each packet: what Node needs for the packets alone.`,
      figures,
    }
  } finally {
    for (const child of others) child.kill()
    await stead.remove()
    await rm(folder, { recursive: true })
  }
}

const hosts = Array.from({ length: HOSTS }, (_, at) => `host${at} A 192.0.2.${at % 256}`)

async function makeZone(stead: Stead): Promise<number> {
  const { STEAD_DATA_DIR, STEAD_DATABASE_URL } = stead.environment()
  const file = join(STEAD_DATA_DIR as string, 'stead.db')
  const database = await openDatabase({ url: STEAD_DATABASE_URL, file })
  await changeZone(database, name, hosts.map(recordOf))
  const { id } = await database.read.selectFrom('zones').select('id').executeTakeFirstOrThrow()
  await database.close()
  return id
}

const zoneText = (): string =>
  [
    `$ORIGIN ${name}.`,
    '@ 3600 IN SOA ns1.servers.test. hostmaster 1 14400 3600 1209600 300',
    '@ 3600 IN NS ns1.servers.test.',
    ...hosts.map((host) => host.replace(' A', ' 300 IN A')),
    '',
  ].join('\n')

async function nsdCommand(folder: string, port: number): Promise<string[]> {
  const file = join(folder, 'nsd.conf')
  await writeFile(join(folder, 'zone'), zoneText())
  const lines = [
    ...['server:', `ip-address: 127.0.0.1@${port}`, 'username: ""', 'server-count: 1', 'rrl-ratelimit: 0'],
    ...[`zonesdir: "${folder}"`, 'database: ""', `xfrdir: "${folder}"`, `xfrdfile: "${folder}/xfrd"`],
    ...[`zonelistfile: "${folder}/list"`, `pidfile: "${folder}/nsd.pid"`, 'remote-control:', 'control-enable: no'],
    ...['zone:', `name: "${name}"`, 'zonefile: "zone"', ''],
  ]
  await writeFile(file, lines.join('\n'))
  return ['nsd', '-d', '-c', file]
}

/** What Node needs to receive and send a packet in the cheapest way. */
const echoCommand = async (_folder: string, port: number): Promise<string[]> => [
  process.execPath,
  join(import.meta.dirname, 'support/udp-echo.ts'),
  String(port),
]

async function knotCommand(folder: string, port: number): Promise<string[]> {
  const file = join(folder, 'knot.conf')
  const text = `server:
    listen: 127.0.0.1@${port}
    rundir: "${folder}"
    udp-workers: 1
    tcp-workers: 1
    background-workers: 1
database:
    storage: "${folder}"
zone:
  - domain: ${name}
    storage: "${folder}"
    file: zone
`
  await writeFile(file, text)
  return ['knotd', '-c', file]
}

async function questions(folder: string, file: string, count: number, line: (at: number) => string): Promise<string> {
  const path = join(folder, file)
  await writeFile(path, `${Array.from({ length: count }, (_, at) => line(at)).join('\n')}\n`)
  return path
}

async function dig({ port }: Server, ...words: string[]): Promise<string> {
  const { stdout } = await run('dig', ['@127.0.0.1', '-p', String(port), '+short', '+tries=1', '+time=1', ...words])
  return stdout
}

const untilAnswered = (server: Server): Promise<unknown> =>
  until('the server answers', async () => (await dig(server, `host1.${name}`).catch(() => '')).startsWith('192.0.2.1'))

interface Measured {
  readonly perSecond: number
  /** Microseconds of CPU per answer. */
  readonly cpu: number
}

interface Load {
  readonly file: string
  /** Requests signatures. */
  readonly isSigned?: boolean
  /** Queries a second. Otherwise, as fast as the answers arrive. */
  readonly most?: number
}

function wordsOf({ port }: Server, { file, isSigned = false, most }: Load, seconds = SECONDS): string[] {
  const words = ['-s', '127.0.0.1', '-p', String(port), '-d', file, '-l', String(seconds), '-c', '16', '-T', '1']
  return [...words, ...(isSigned ? ['-D', '-e'] : []), ...(most === undefined ? [] : ['-Q', String(most)])]
}

async function measure(server: Server, load: Load): Promise<Measured> {
  const before = cpuOf(server.pid)
  const { stdout } = await run('dnsperf', wordsOf(server, load))
  const used = cpuOf(server.pid) - before
  const answers = Number(/Queries completed:\s+(\d+)/.exec(stdout)?.[1])
  return { perSecond: answers / SECONDS, cpu: used / answers }
}

const describeMeasured = ({ perSecond, cpu }: Measured): string =>
  `${perSecond.toFixed(0)} a second, ${cpu.toFixed(1)} µs`

async function beside(what: string, file: string, own: Server, others: Record<string, Server>): Promise<Figure[]> {
  const ours = await measure(own, { file })
  const figures: Figure[] = []
  for (const [other, server] of Object.entries(others)) {
    const theirs = await measure(server, { file })
    figures.push({
      what,
      value: describeMeasured(ours),
      yardstick: `${other}: ${describeMeasured(theirs)}`,
      ratio: (theirs.cpu / ours.cpu).toFixed(2),
      ...(other === 'NSD' && { aim: '0.5' }),
    })
  }
  return figures
}

const alone = async (what: string, load: Load, server: Server): Promise<Figure> => ({
  what,
  value: describeMeasured(await measure(server, load)),
})
