import type { ServerOptions } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContext, TLSSocket } from 'node:tls'
import { declaredOf } from '../../platform/http/client/proxy-protocol.ts'
import { type HandshakeFailure, handshakeFailureOf, isNameless } from './handshake-failures.ts'
import { profile } from './profile.ts'
import type { SecureContexts } from './secure-contexts.ts'

/** Tickets are not accepted for longer than this, whatever their key's age. */
const SESSION_SECONDS = 43_200

/** The callbacks of a TLS server. */
export interface SecureServerParts {
  readonly contexts: Pick<SecureContexts, 'find'>
  /** Called when a certificate look-up fails. */
  readonly onFault: (error: unknown, serverName: string) => void
  /** Takes over a connection that negotiated `h2`. */
  readonly speakHttp2: (socket: TLSSocket) => void
  readonly metrics: HandshakeMetrics | undefined
}

/** The counters of handshakes. */
export interface HandshakeMetrics {
  handshake?(version: string, isResumed: boolean): void
  handshakeFailure?(reason: HandshakeFailure): void
}

/**
 * Creates an HTTP server over TLS. A connection that negotiates `h2` goes to `speakHttp2`, any other to Node's HTTP/1
 * server, as without TLS. A name without a certificate gets the alert handshake_failure: a default certificate that
 * nobody trusts would teach people to click warnings away.
 */
export function createSecureServer(
  parts: SecureServerParts,
  options: ServerOptions & { readonly handshakeTimeout: number },
): Server {
  const { contexts, onFault, metrics } = parts
  const nameless = new WeakSet<object>()
  const server = createServer({
    ...options,
    ...profile,
    ca: [],
    sessionTimeout: SESSION_SECONDS,
    ALPNProtocols: ['h2', 'http/1.1'],
    // Node calls it as a method of the connection.
    SNICallback(this: object, serverName, done) {
      const found = (context: SecureContext | undefined) => {
        if (!context) nameless.add(this)
        done(null, context)
      }
      const isVisitor = declaredOf(this as TLSSocket)?.looksAt === undefined
      contexts.find(serverName, { isVisitor }).then(found, (error) => {
        onFault(error, serverName)
        found(undefined)
      })
    },
  })
  // Node would treat it as an unreadable request, and answer in plain text.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    metrics?.handshakeFailure?.(
      nameless.has(socket) || isNameless(error, socket) ? 'unknown_name' : handshakeFailureOf(error),
    )
    socket.destroy()
  })
  const speakHttp1 = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    metrics?.handshake?.(socket.getProtocol() ?? '', socket.isSessionReused())
    if (socket.alpnProtocol === 'h2') parts.speakHttp2(socket)
    else for (const speak of speakHttp1) speak.call(server, socket)
  })
  return server
}

/** Tracks connections that have no request yet, which Node does not close. @returns a function that ends all of them */
export function trackSockets(server: Server): () => void {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}
