import type { Socket } from 'node:net'
import { connectForSite, type Egress } from '../wasm/network/egress.ts'
import { askedFor, type SocketAddress } from './connections.ts'
import { answerName, MadeUpAddresses } from './name-server.ts'
import type { Network } from './networks.ts'

/** The site whose PHP connects. */
interface SiteBehind {
  /** A process in the sandbox, by its ID outside, once it exists. */
  readonly pid: Promise<number>
  readonly egress: Egress
  /** Host name of the site. */
  readonly ownName: string
}

interface Served extends SiteBehind {
  readonly names: MadeUpAddresses
}

/**
 * Serves outgoing connections of a sandbox. All of them end at the host, which checks their destination and connects to
 * it. Programs in the sandbox notice nothing and cannot bypass it, because no other route exists.
 * @returns a function that ends it and closes the network
 */
export function serveEgressSocket(network: Network, site: SiteBehind): () => void {
  const { connections, names } = network
  // A client that has closed its sending side still gets the answer.
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

/**
 * Returns the intended host of an address. libcurl resolves `*.localhost` to the loopback address without a query, so
 * such a site's address is that of this machine.
 */
async function meantBy({ address, port }: SocketAddress, { names, egress, ownName }: Served): Promise<string> {
  const isLoopback = address === '::1' || address.startsWith('127.')
  // The edge then routes by the host name in the request.
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
