import type { Socket } from 'node:net'
import { connectForSite, type Egress } from '../wasm/network/egress.ts'
import { askedFor, type Place } from './connections.ts'
import { answerName, MadeUpAddresses } from './name-server.ts'
import type { Network } from './networks.ts'

/** Whose PHP it is that connects. */
interface SiteBehind {
  /** A process in the sandbox, as the machine counts, once it is there. */
  readonly pid: Promise<number>
  readonly egress: Egress
  /** Host name of the site. */
  readonly ownName: string
}

interface Served extends SiteBehind {
  readonly names: MadeUpAddresses
}

/**
 * Serves the way out of a sandbox: connections to whatever address end at the host, which checks where they were to go, and makes them. Nothing
 * in the sandbox has to know of it, or can get around it: there is no other way.
 * @returns what ends it, and the network with it
 */
export function serveEgressSocket(network: Network, site: SiteBehind): () => void {
  const { connections, names } = network
  // who has said all waits for the answer all the same
  Object.assign(connections, { allowHalfOpen: true })
  const madeUp = new MadeUpAddresses()
  names.on('message', (asked, from) => {
    const answer = answerName(asked, madeUp)
    if (answer) names.send(answer, from.port, from.address, () => {})
  })
  names.on('error', () => {})
  const open = new Set<Socket>()
  connections.on('connection', (socket) => {
    open.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => open.delete(socket))
    serveConnection(socket, { ...site, names: madeUp }).catch(() => socket.resetAndDestroy())
  })
  return () => {
    network.close()
    for (const socket of open) socket.destroy()
  }
}

/** What was meant by an address: libcurl asks nobody for `*.localhost`, so for it a site's address is that of this machine. */
async function meantBy({ address, port }: Place, { names, egress, ownName }: Served): Promise<string> {
  const isLoopback = address === '::1' || address.startsWith('127.')
  // at the edge, which goes by what the request names
  if (isLoopback && (await egress.edge?.find(ownName, port))) return ownName
  return names.nameOf(address) ?? address
}

async function serveConnection(socket: Socket, asked: Served): Promise<void> {
  const { egress } = asked
  const { connections, site } = egress
  const { remoteAddress, remotePort } = socket
  if (remoteAddress === undefined || remotePort === undefined || !connections.take(site, 1)) {
    socket.resetAndDestroy()
    return
  }
  socket.on('close', () => connections.give(site, 1))
  const place = await askedFor(await asked.pid, { address: remoteAddress, port: remotePort })
  const outside = place && (await connectForSite(await meantBy(place, asked), place.port, egress))
  if (!outside || socket.destroyed) {
    outside?.destroy()
    socket.resetAndDestroy()
    return
  }
  outside.on('error', () => socket.destroy())
  outside.on('close', () => socket.destroySoon())
  socket.on('close', () => outside.destroy())
  socket.pipe(outside)
  outside.pipe(socket)
}
