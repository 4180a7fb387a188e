import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Client, createClientReader, createTrust } from './client-address.ts'
import { readProxyHeaders } from './proxy-protocol.ts'

/** The time limit for the header of a connection that may begin with a PROXY header. */
const HEADER_MS = 20_000

export interface OriginOptions {
  readonly trustProxy: readonly string[]
  readonly proxyProtocol?: readonly string[]
  readonly publicUrl?: string | undefined
}

/**
 * Gives each request its client, read as on the edge, and the origin that its browser knows.
 * If the host name is that of the public URL, that URL is the origin, unless a trusted proxy declares another scheme.
 * Proxies drop ports, and some do not declare the scheme.
 */
export function readOrigins(app: FastifyInstance, { trustProxy, proxyProtocol, publicUrl }: OriginOptions): void {
  const readClient = createClientReader(trustProxy, 'http')
  const known = publicUrl ? URL.parse(publicUrl) : null
  app.decorateRequest('client', {
    getter(this: FastifyRequest) {
      return readClient(this.raw)
    },
  })
  app.decorateRequest('publicOrigin', function (this: FastifyRequest) {
    const { scheme, isSchemeKnown } = this.client
    const { hostname, port } = URL.parse(`${scheme}://${this.host}`) ?? { hostname: '', port: '' }
    const isKnown = known !== null && hostname === known.hostname && (port === '' || port === known.port)
    if (isKnown && (!isSchemeKnown || `${scheme}:` === known.protocol)) return known.origin
    return `${scheme}://${this.host}`
  })
  const endSilent = readProxyHeaders(app.server, { isBalancer: createTrust(proxyProtocol ?? []), timeoutMs: HEADER_MS })
  app.addHook('preClose', (done) => {
    endSilent()
    done()
  })
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The client that sent it, as far as its headers can be trusted. */
    readonly client: Client
    /** Returns the scheme, host name and port that the client, or a trusted proxy, says the request was sent to. */
    publicOrigin(): string
  }
}
