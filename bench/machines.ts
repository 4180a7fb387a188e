import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { defaultLimits } from '../src/edge/edge-limits.ts'
import { askAlive } from '../src/edge/host-client/ask-alive.ts'
import { createUpstreams, type Upstreams } from '../src/edge/proxy/upstreams.ts'
import { secureAddress } from '../src/platform/mtls/connect-to-role.ts'
import { RoleTrust } from '../src/platform/mtls/role-trust.ts'
import { testAuthority } from '../src/platform/mtls/test-support.ts'
import { type Figure, median, type Section } from './support/report.ts'

const REQUESTS = 4_000
const AT_ONCE = 16
const ROUNDS = 9

/** Processor time of both ends, in microseconds for each request. */
interface Cost {
  readonly edge: number
  readonly host: number
}

/** The way from an edge to a host, on kept connections, with and without certificates. */
export async function machinesBench(): Promise<Section> {
  const ours = await testAuthority()
  const own = await ours.issue({ role: 'host', name: 'h1' })
  const child = fork(join(import.meta.dirname, 'support/host-stand-in.ts'), [
    JSON.stringify({ own, known: ours.known }),
  ])
  const [ports] = (await once(child, 'message')) as [{ plain: number; secure: number }]
  const trust = new RoleTrust(await ours.issue({ role: 'edge', name: 'e1' }), ours.known)
  const upstreams = createUpstreams({ ...defaultLimits.upstream, connections: AT_ONCE }, askAlive, trust)
  const plain = `http://127.0.0.1:${ports.plain}`
  const secure = secureAddress(`http://127.0.0.1:${ports.secure}`, 'h1')
  const usedByHost = async () => {
    child.send('how much')
    return ((await once(child, 'message')) as [number])[0]
  }
  const cost = async (upstream: string, path: string): Promise<Cost> => {
    const hostBefore = await usedByHost()
    const before = process.cpuUsage()
    await askMany(upstreams, upstream, path)
    const { user, system } = process.cpuUsage(before)
    return { edge: (user + system) / REQUESTS, host: ((await usedByHost()) - hostBefore) / REQUESTS }
  }
  const figures: Figure[] = []
  for (const [path, what] of [
    ['/', '200 bytes'],
    ['/page', '30 kB'],
  ] as const) {
    const [without, having]: [Cost[], Cost[]] = [[], []]
    await cost(plain, path)
    await cost(secure, path)
    // In turn, so that both have the same neighbors.
    for (let round = 0; round < ROUNDS; round++) {
      without.push(await cost(plain, path))
      having.push(await cost(secure, path))
    }
    for (const end of ['edge', 'host'] as const) figures.push(figureOf(what, end, without, having))
  }
  await upstreams.destroy()
  child.kill()
  return {
    title: 'Between machines',
    how: `Processor time for a request from an edge to a host on kept connections, ${AT_ONCE} at once, with certificates of both sides (TLS 1.3). The reference is the same without TLS. Median of ${ROUNDS} rounds of ${REQUESTS} requests each, in turn.`,
    figures,
  }
}

function figureOf(what: string, end: keyof Cost, without: readonly Cost[], having: readonly Cost[]): Figure {
  const ratios = having.map((each, at) => each[end] / (without[at] as Cost)[end])
  return {
    what: `${what}, ${end}`,
    value: `${median(having.map((each) => each[end])).toFixed(0)} µs`,
    yardstick: `${median(without.map((each) => each[end])).toFixed(0)} µs`,
    ratio: median(ratios).toFixed(2),
  }
}

async function askMany(upstreams: Upstreams, upstream: string, path: string): Promise<void> {
  let left = REQUESTS
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const listener = { onFirstBytes() {}, onHead() {}, onData() {}, onEnd: resolve, onError: reject }
      upstreams.ask(upstream, { method: 'GET', path, headers: ['host', 'site.test'] }, listener)
    })
  const lane = async () => {
    while (left-- > 0) await one()
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lane))
}
