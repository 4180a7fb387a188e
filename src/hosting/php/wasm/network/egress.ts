import { performServerHandshake, type ServerHttp2Stream } from 'node:http2'
import { connect, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Budget } from '../../../../platform/budgets/budget.ts'
import type { HairpinRoute } from '../../hairpin-route.ts'
import type { Names } from '../names.ts'

/** The rules for a site's outgoing connections. */
export interface EgressPolicy {
  /** Returns whether a connection to this IP address is allowed. */
  readonly allows: (address: string, port: number) => boolean
  readonly connectTimeoutMs: number
  readonly idleTimeoutMs: number
}

export const defaultEgressLimits = { connectTimeoutMs: 5_000, idleTimeoutMs: 60_000 }

/** The dependencies for serving one child's connections. */
export interface Egress {
  readonly policy: EgressPolicy
  readonly names: Names
  /** Serves connections to sites of this Stead, whatever the policy says. Without it they are like all others. */
  readonly edge?: HairpinRoute | undefined
  /** Connections to the outside. */
  readonly connections: Budget
  /** The owner of the connections, as budgets know it. */
  readonly site: string
  /** The site that Stead itself checks. Its access log and statistics leave these requests out. */
  readonly looksAt?: number
}

/** The most data that a site may send on one connection before the other side takes it. */
const windowBytes = 1 << 17
/** The most memory for all its connections, including what HTTP/2 itself keeps for them. */
const sessionMb = 8

/**
 * Serves a child's HTTP/2 CONNECT streams over its socket: resolves the name, refuses what the policy does not allow,
 * and connects to exactly the address that was checked. Connections to sites of this Stead go to the edge. Refusals are
 * 403, failures 502, too many 503.
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

/**
 * Opens a connection under the rules for a site's connections. Returns undefined when the rules refuse it.
 * @throws when it cannot be opened
 */
export async function reachOutside(host: string, port: number, egress: Egress): Promise<Socket | undefined> {
  return (await reach(host, port, egress))?.outside
}

/** Opens a connection for a site's PHP, and marks it as the site's if it leads to the edge. */
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

/**
 * Returns the first allowed address of a host. IPv4 first: a site cannot know which works, and most machines have IPv4.
 */
async function resolveAllowed(
  host: string,
  port: number,
  { policy, names, site }: Egress,
): Promise<string | undefined> {
  const found = await names.addressesOf(host.replace(/^\[(.*)\]$/, '$1'), site)
  // One forbidden address makes the name forbidden: a name with both is an attempt to evade the check (DNS rebinding).
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
