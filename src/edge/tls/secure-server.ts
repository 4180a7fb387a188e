import type { ServerOptions } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { profile } from './profile.ts'
import type { SecureContexts } from './secure-contexts.ts'

/** Tickets are not taken for longer than this, whatever their key's age. */
const SESSION_SECONDS = 43_200

/**
 * HTTP over TLS: a connection that agrees on `h2` goes to `speakHttp2`, any other one is Node's HTTP/1 server's, as without TLS. A name without a certificate gets the alert handshake_failure: the server has no certificate of its own, as one that
 * nobody trusts would teach people to click warnings away.
 * @param onFault told when a certificate cannot be looked up
 * @param speakHttp2 takes a connection over
 */
export function createSecureServer(
  contexts: Pick<SecureContexts, 'find'>,
  options: ServerOptions & { readonly handshakeTimeout: number },
  onFault: (error: unknown, serverName: string) => void,
  speakHttp2: (socket: TLSSocket) => void,
): Server {
  const server = createServer({
    ...options,
    ...profile,
    ca: [],
    sessionTimeout: SESSION_SECONDS,
    ALPNProtocols: ['h2', 'http/1.1'],
    SNICallback(serverName, done) {
      contexts.find(serverName).then(
        (context) => done(null, context),
        (error) => {
          onFault(error, serverName)
          done(null, undefined)
        },
      )
    },
  })
  // Node would take it for a request that cannot be read, and answer in plain text
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_error: Error, socket: TLSSocket) => socket.destroy())
  const speakHttp1 = server.listeners('secureConnection') as ((socket: TLSSocket) => void)[]
  server.removeAllListeners('secureConnection')
  server.on('secureConnection', (socket: TLSSocket) => {
    if (socket.alpnProtocol === 'h2') speakHttp2(socket)
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
