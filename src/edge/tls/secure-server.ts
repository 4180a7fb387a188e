import type { ServerOptions } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { SecureContext, TLSSocket } from 'node:tls'
import { failureOf, type HandshakeFailure, isNameless } from './handshake-failures.ts'
import { profile } from './profile.ts'
import type { SecureContexts } from './secure-contexts.ts'

/** Tickets are not taken for longer than this, whatever their key's age. */
const SESSION_SECONDS = 43_200

/** What a server over TLS tells and asks. */
export interface SecureServerParts {
  readonly contexts: Pick<SecureContexts, 'find'>
  /** Told when a certificate cannot be looked up. */
  readonly onFault: (error: unknown, serverName: string) => void
  /** Takes over a connection that has agreed on `h2`. */
  readonly speakHttp2: (socket: TLSSocket) => void
  readonly metrics: HandshakeMetrics | undefined
}

/** What is counted of handshakes. */
export interface HandshakeMetrics {
  handshake?(version: string, isResumed: boolean): void
  handshakeFailure?(reason: HandshakeFailure): void
}

/**
 * HTTP over TLS: a connection that agrees on `h2` goes to `speakHttp2`, any other one is Node's HTTP/1 server's, as without TLS. A name
 * without a certificate gets the alert handshake_failure: the server has no certificate of its own, as one that nobody trusts would teach
 * people to click warnings away.
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
    // Node calls it as a method of the connection
    SNICallback(this: object, serverName, done) {
      const found = (context: SecureContext | undefined) => {
        if (!context) nameless.add(this)
        done(null, context)
      }
      contexts.find(serverName).then(found, (error) => {
        onFault(error, serverName)
        found(undefined)
      })
    },
  })
  // Node would take it for a request that cannot be read, and answer in plain text
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    metrics?.handshakeFailure?.(nameless.has(socket) || isNameless(error, socket) ? 'unknown_name' : failureOf(error))
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

/** Connections that have not got as far as a request are not among those that Node closes. @returns what ends all of them */
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
