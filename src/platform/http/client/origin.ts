import type { FastifyInstance, FastifyRequest } from 'fastify'
import { type Client, createClientReader, createTrust } from './client-address.ts'
import { readProxyHeaders } from './proxy-protocol.ts'

/** Of a connection that may begin with a PROXY header. */
const HEADER_MS = 20_000

export interface OriginOptions {
  readonly trustProxy: readonly string[]
  readonly proxyProtocol?: readonly string[]
  readonly publicUrl?: string | undefined
}

/**
 * Gives each request its client, read as the edge reads it, and the origin that its browser knows. Where the host name is that of the
 * public address, that address is the origin, unless a trusted proxy says another scheme: proxies drop ports, and some do not say the scheme.
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
    /** Who has sent it, as far as it can be believed. */
    readonly client: Client
    /** Scheme, name and port under which the client, or a proxy that is trusted, says that it asked. */
    publicOrigin(): string
  }
}
