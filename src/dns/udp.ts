import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { Responder } from './responder.ts'

/** The limit of answers that the system has not yet sent. Clients repeat questions whose answers are dropped. */
const MOST_WAITING_BYTES = 4 << 20
/** The buffer for messages that arrive during other work. */
const RECEIVE_BYTES = 1 << 20

export interface UdpOptions {
  readonly responder: Responder
  readonly host: string
  readonly port: number
  /** Whether another server may use the same port for IPv4. */
  readonly ipv6Only?: boolean
  /** Whether several processes have the same address. */
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
    // The sender of a message is always an address. Node would otherwise resolve it asynchronously.
    lookup: (name, more, found) => (isBound ? found(null, name, family) : lookup(name, { ...more, all: false }, found)),
  })
  socket.on('message', (message, { address, port: from }) => {
    // No client sends from port 0, but anyone can forge it.
    if (from === 0) return
    const reply = responder.respond(message, { address, transport: 'udp' })
    if (!Buffer.isBuffer(reply) || socket.getSendQueueSize() > MOST_WAITING_BYTES) return
    // A client that cannot be reached may ask again. The result of sending does not matter.
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
    // The system's default size is good enough.
  }
  return socket
}
