import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import type { CertifiedRole } from './role-name.ts'
import type { RoleTrust } from './role-trust.ts'

/** The time until a connection has its first byte, and until its handshake is complete. */
const HANDSHAKE_MS = 5_000
/** The first byte of a TLS connection: a handshake record. */
const HANDSHAKE = 0x16
const SAID_EVERY_MS = 1_000

/** Tells a client without TLS what is wrong. The edge's question whether the host lives gets an answer with it, too. */
const REFUSAL =
  'HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\nThis port requires TLS with a certificate of the installation.\n'

export interface AcceptOptions {
  readonly trust: RoleTrust
  /** The roles that may connect. */
  readonly roles: readonly CertifiedRole[]
  /** Whether connections without TLS are still accepted at this moment. */
  readonly isPlainAllowed: () => boolean
  /** Called with the reason for each refused connection, at most once a second. */
  readonly onRefused: (reason: string, address: string | undefined) => void
}

/**
 * Lets only certified roles connect to an HTTP server. Must be called before it listens.
 * @returns a function that closes all connections, including those whose handshake is not complete
 */
export function acceptRoles(server: Server, { trust, roles, isPlainAllowed, onRefused }: AcceptOptions): () => void {
  const accept = server.listeners('connection') as ((socket: Socket) => void)[]
  const hand = (socket: Socket) => {
    for (const each of accept) each.call(server, socket)
  }
  const refused = seldom(onRefused)
  const peers = new Set<TLSSocket>()
  const faultOf = (socket: TLSSocket) => trust.faultOf(socket.getPeerX509Certificate(), { roles })
  const secure = createServer({
    ...trust.options(),
    ...{ requestCert: true, rejectUnauthorized: true, handshakeTimeout: HANDSHAKE_MS },
  })
  secure.on('secureConnection', (socket) => {
    const fault = faultOf(socket)
    if (fault !== undefined) {
      refused(fault, socket.remoteAddress)
      socket.destroy()
      return
    }
    peers.add(socket)
    socket.once('close', () => peers.delete(socket))
    hand(socket)
  })
  secure.on('tlsClientError', (error, socket) => {
    refused(error.message, socket.remoteAddress)
    socket.destroy()
  })
  const endOfChanges = trust.onChange(() => {
    secure.setSecureContext(trust.options())
    for (const socket of peers) if (faultOf(socket) !== undefined) socket.destroy()
  })
  server.once('close', endOfChanges)
  const open = new Set<Socket>()
  server.removeAllListeners('connection').on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    // It closes after an error.
    socket.on('error', () => {})
    byFirstByte(socket, (byte) => {
      if (byte === HANDSHAKE) secure.emit('connection', socket)
      else if (isPlainAllowed()) hand(socket)
      else {
        refused('it does not use TLS', socket.remoteAddress)
        socket.end(REFUSAL)
        socket.resume()
        socket.setTimeout(HANDSHAKE_MS, () => socket.destroy())
      }
    })
  })
  return () => {
    for (const socket of open) socket.destroy()
  }
}

/** Calls back with the first byte of a connection, which stays unread. Closes one that sends nothing. */
function byFirstByte(socket: Socket, then: (byte: number) => void): void {
  const late = setTimeout(() => socket.destroy(), HANDSHAKE_MS)
  socket.once('close', () => clearTimeout(late))
  socket.once('readable', () => {
    clearTimeout(late)
    const first = socket.read(1) as Buffer | null
    if (first === null) return
    socket.unshift(first)
    then(first[0] as number)
  })
}

/** Tells at most once in a while. */
function seldom(tell: AcceptOptions['onRefused']): AcceptOptions['onRefused'] {
  let quietUntilMs = 0
  return (reason, address) => {
    if (performance.now() < quietUntilMs) return
    quietUntilMs = performance.now() + SAID_EVERY_MS
    tell(reason, address)
  }
}
