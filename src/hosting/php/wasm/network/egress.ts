import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Budget } from '../../../../platform/budgets/budget.ts'
import type { HairpinRoute } from '../../hairpin-route.ts'
import type { Names } from '../names.ts'

/** What a site's outgoing connections may do. */
export interface EgressPolicy {
  /** Says whether a connection to this IP address may be made. */
  readonly allows: (address: string, port: number) => boolean
  readonly connectTimeoutMs: number
  readonly idleTimeoutMs: number
}

export const defaultEgressLimits = { connectTimeoutMs: 5_000, idleTimeoutMs: 60_000 }

/** What serving one child's connections needs. */
export interface Egress {
  readonly policy: EgressPolicy
  readonly names: Names
  /** To sites of this Stead, whatever the policy says; without it they are like all others. */
  readonly edge?: HairpinRoute | undefined
  /** Connections to the outside. */
  readonly connections: Budget
  /** Whose they are, as budgets know it. */
  readonly site: string
  /** The site that Stead itself looks at. Its access log and statistics leave these requests out. */
  readonly looksAt?: number
}

/** What a site may have sent of one connection before the other side takes it. */
const windowBytes = 1 << 17
/** Of all its connections, with what HTTP/2 itself keeps of them. */
const sessionMb = 8

/**
 * Serves a child's HTTP/2 CONNECT streams over its socket: resolves the name, refuses what the policy does not allow, and
 * connects to exactly the address that was checked. What is for a site of this Stead goes to the edge. Refusals are 403, failures 502, too many 503.
 */
export function serveEgress(socket: Duplex, egress: Egress): void {
  const { connections, site } = egress
  const session = performServerHandshake(socket, {
    settings: { maxConcurrentStreams: connections.terms.each, initialWindowSize: windowBytes },
    maxSessionMemory: sessionMb,
  })
  session.on('error', () => session.destroy())
  socket.on('error', () => session.destroy())
  socket.on('close', () => session.destroy())
  session.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    if (headers[':method'] !== 'CONNECT') return refuse(stream, 405)
    if (!connections.take(site, 1)) return refuse(stream, 503)
    stream.on('close', () => connections.give(site, 1))
    serveConnection(stream, String(headers[':authority']), egress).catch(() => refuse(stream, 502))
  })
}

/** A connection for somebody who may reach what a site may; undefined: not to be reached. @throws when it cannot be made */
export async function reachOutside(host: string, port: number, egress: Egress): Promise<Socket | undefined> {
  return (await reach(host, port, egress))?.outside
}

/** The same of a site's PHP, which the edge hears of where it leads there. */
export async function connectForSite(host: string, port: number, egress: Egress): Promise<Socket | undefined> {
  const reached = await reach(host, port, egress)
  // Before anything is sent: the host must know whose request it is when it comes back.
  if (reached?.isAtEdge) noteAsSites(reached.outside, egress)
  return reached?.outside
}

async function reach(host: string, port: number, egress: Egress) {
  const edge = await egress.edge?.find(host, port)
  const address = edge?.host ?? (await resolveAllowed(host, port, egress))
  if (address === undefined) return undefined
  const outside = await connectTo(address, edge?.port ?? port, egress.policy)
  // Before anything else is sent.
  if (edge) outside.write(egress.edge?.greeting(edge, egress.looksAt) as Buffer)
  outside.setTimeout(egress.policy.idleTimeoutMs, () => outside.destroy())
  return { outside, isAtEdge: edge !== undefined }
}

async function serveConnection(stream: ServerHttp2Stream, authority: string, egress: Egress): Promise<void> {
  const match = /^(.+):(\d{1,5})$/.exec(authority)
  const port = Number(match?.[2])
  if (!match || port < 1 || port > 65_535) return refuse(stream, 400)
  const host = match[1] as string
  const outside = await connectForSite(host, port, egress)
  if (!outside) return refuse(stream, 403)
  if (stream.destroyed) return void outside.destroy()
  stream.respond({ ':status': 200 })
  outside.on('error', () => stream.close())
  outside.on('close', () => stream.close())
  stream.on('close', () => outside.destroy())
  stream.pipe(outside)
  outside.pipe(stream)
}

function noteAsSites(outside: Socket, { edge, site }: Egress): void {
  const forget = edge?.opened(`${outside.localAddress} ${outside.localPort}`, site)
  outside.once('close', () => forget?.())
}

/** The first address of a host that may be reached. IPv4 first: a site cannot tell, and most machines have it. */
async function resolveAllowed(
  host: string,
  port: number,
  { policy, names, site }: Egress,
): Promise<string | undefined> {
  const found = await names.addressesOf(host.replace(/^\[(.*)\]$/, '$1'), site)
  // One bad address spoils the name: a name that has both is an attempt to get by the check (DNS rebinding).
  return found.every((address) => policy.allows(address, port)) ? found[0] : undefined
}

function connectTo(host: string, port: number, policy: EgressPolicy): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true })
    const timer = setTimeout(() => socket.destroy(new Error('connect timed out')), policy.connectTimeoutMs)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.off('error', reject)
      resolve(socket)
    })
    socket.once('error', reject)
    socket.once('close', () => {
      clearTimeout(timer)
      reject(new Error('closed'))
    })
  })
}

function refuse(stream: ServerHttp2Stream, status: number): void {
  if (stream.destroyed || stream.headersSent) stream.close()
  else stream.respond({ ':status': status }, { endStream: true })
}
