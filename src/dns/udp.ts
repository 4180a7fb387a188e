import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Responder } from './responder.ts'

/** Answers that the system has not taken yet: clients ask again for what is dropped. */
const MOST_WAITING_BYTES = 4 << 20
/** What arrives while something else is done. */
const RECEIVE_BYTES = 1 << 20

export interface UdpOptions {
  readonly responder: Responder
  readonly host: string
  readonly port: number
  /** The same port of IPv4 is somebody else's. */
  readonly ipv6Only?: boolean
  /** Several processes have the same address. */
  readonly isShared: boolean
  readonly onError: (error: unknown) => void
}

/** Answers messages over UDP. Rejects with the system's error when it cannot listen. */
export async function listenUdp(options: UdpOptions): Promise<Socket> {
  const { responder, host, port, ipv6Only = false, isShared, onError } = options
  let isBound = false
  const family = isIPv6(host) ? 6 : 4
  const socket = createSocket({
    ...{ type: family === 6 ? 'udp6' : 'udp4', ipv6Only, reusePort: isShared },
    // what a message came from is an address: Node would wait a round before it believes that
    lookup: (name, more, found) => (isBound ? found(null, name, family) : lookup(name, { ...more, all: false }, found)),
  })
  socket.on('message', (message, { address, port: from }) => {
    // nobody sends from there, but anybody can write it
    if (from === 0) return
    const reply = responder.respond(message, { address, transport: 'udp' })
    if (!Buffer.isBuffer(reply) || socket.getSendQueueSize() > MOST_WAITING_BYTES) return
    // who cannot be reached asks again, or does not: nobody waits to hear of it
    socket.send(reply, from, address)
  })
  const listening = once(socket, 'listening')
  socket.bind({ address: host, port })
  try {
    await listening
  } catch (error) {
    socket.close()
    throw error
  }
  isBound = true
  socket.on('error', onError)
  try {
    socket.setRecvBufferSize(RECEIVE_BYTES)
  } catch {
    // the system's own size does, too
  }
  return socket
}
