import { once } from 'node:events'
import type { Server as PlainServer } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createSecureContext, type TLSSocket } from 'node:tls'
import { profile } from '../../edge/tls/profile.ts'
import { createTrust } from '../../platform/http/client/client-address.ts'
import { readProxyHeaders } from '../../platform/http/client/proxy-protocol.ts'
import type { ProcessContext, RunningRole } from '../process-context.ts'
import { listenAlone } from '../start/free-port.ts'
import { type ApiCertificate, apiCertificates } from './api-certificates.ts'

/** The interval of checks for another certificate. */
const LOOK_MS = 10_000
const HANDSHAKE_MS = 10_000
const CLOSE_MS = 20

export interface SecureApi extends RunningRole {
  readonly port: number
  /** Checks for another certificate now. */
  look(): Promise<void>
}

/**
 * Serves the API over TLS: the same requests, with the same server. Existing connections keep the certificate that they
 * began with.
 * @returns undefined when it is off
 * @throws OperatorError for a certificate of the settings that is unusable
 */
export async function startSecureApi(context: ProcessContext, plain: PlainServer): Promise<SecureApi | undefined> {
  const { config, log } = context
  const address = config.apiTlsListen
  if (address === 'off') return undefined
  const load = apiCertificates(context)
  const server = secureServer(plain)
  const endSilent = readProxyHeaders(server, { isBalancer: createTrust(config.proxyProtocol), timeoutMs: HANDSHAKE_MS })
  let current: string | undefined
  const use = ({ chain, key }: ApiCertificate) => {
    if (current === chain) return
    const secrets = { ...profile, cert: chain, key, ca: [] }
    // Detects a key that does not match the certificate before any client connects.
    createSecureContext(secrets)
    server.setSecureContext(secrets)
    current = chain
  }
  const look = async () => {
    const found = await load()
    if (found) use(found)
  }
  await look()
  if (current === undefined) log.warn('the API has no certificate yet and accepts no TLS connections until it has one')
  const timer = setInterval(
    () => void look().catch((error) => log.warn({ err: error }, 'could not read the certificate of the API')),
    LOOK_MS,
  )
  timer.unref()
  await listenAlone(server, address, 'STEAD_API_TLS_LISTEN')
  const { port } = server.address() as AddressInfo
  log.info({ host: address.host, port }, 'API is listening for TLS')
  return {
    port,
    look,
    async stop() {
      clearInterval(timer)
      endSilent()
      await close(server)
    },
  }
}

function secureServer(plain: PlainServer): Server {
  const { requestTimeout, keepAliveTimeout } = plain
  const server = createServer(
    {
      ...profile,
      ca: [],
      ALPNProtocols: ['http/1.1'],
      requestTimeout,
      keepAliveTimeout,
      handshakeTimeout: HANDSHAKE_MS,
    },
    (request, response) => void plain.emit('request', request, response),
  )
  server.on('clientError', (error, socket) => void plain.emit('clientError', error, socket))
  // Node would treat it as an unreadable request, and answer in plain text.
  server.removeAllListeners('tlsClientError')
  server.on('tlsClientError', (_error, socket: TLSSocket) => void socket.destroy())
  return server
}

/** Answers requests in flight. No event tells when their connections are idle afterwards. */
async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  const timer = setInterval(() => server.closeIdleConnections(), CLOSE_MS)
  await closed
  clearInterval(timer)
}
