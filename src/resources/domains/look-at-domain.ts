import { request } from 'node:http'
import { connect } from 'node:net'
import { whyElsewhere } from '../../certificates/points-here.ts'
import type { Config } from '../../config.ts'
import { siteHeader } from '../../platform/http/client/proxy-protocol.ts'
import { isWildcard } from '../../platform/wildcard-name.ts'
import type { CertificateState } from '../certificates/public.ts'
import { edgeAddresses } from '../sites/public.ts'
import type { DomainCheck } from './check.store.ts'

/** How long the edge has to respond. */
const PATIENCE_MS = 3000

/** Stands in for the names that a wildcard covers. */
const PROBE_LABEL = 'stead-check'

type Where = Pick<Config, 'edgeAddresses' | 'edgeListen' | 'resolvers'>

/** Identifies Stead to the edge, so that the site's log omits the request. */
interface Asker {
  readonly edgeKey: string
  readonly siteId: number
}

/**
 * Checks a domain from outside: where its name leads, whether the edge responds, and its certificate. Never fails, but
 * reports faults in its result.
 */
export async function lookAtDomain(
  hostName: string,
  config: Where,
  certificate?: CertificateState,
  now = Date.now(),
  comesBack?: (hostName: string) => Promise<boolean>,
  asker?: Asker,
): Promise<DomainCheck> {
  const asked = isWildcard(hostName) ? `${PROBE_LABEL}${hostName.slice(1)}` : hostName
  const where = { addresses: edgeAddresses(config), resolvers: config.resolvers, ...(comesBack && { comesBack }) }
  const [dnsFault, edge] = await Promise.all([whyElsewhere(asked, where), askEdge(asked, config, asker)])
  const isProvisioned = edge.fault === undefined
  const status = edge.status ?? 0
  const answerFault = isProvisioned && status >= 500 ? `the site responds with ${status}` : undefined
  const faults = [dnsFault, edge.fault, answerFault, certificateFault(certificate, now)].filter(
    (each) => each !== undefined,
  )
  return {
    isDnsConfirmed: dnsFault === undefined,
    isProvisioned,
    isHealthy: faults.length === 0,
    reason: faults.length > 0 ? faults.join('; ') : null,
  }
}

/**
 * Returns the fault of an expired certificate, which browsers warn about. Without a certificate, nobody is redirected
 * to https.
 */
function certificateFault(certificate: CertificateState | undefined, now: number): string | undefined {
  const { isIssued = false, expiresAt = null, reason = null } = certificate ?? {}
  if (!isIssued || expiresAt === null || now < expiresAt) return undefined
  const ended = `its certificate expired at ${new Date(expiresAt).toISOString()}`
  return reason === null ? ended : `${ended}, and Stead has no newer one: ${reason}`
}

/**
 * Sends a request that the edge answers itself, because no site has TRACE. It starts no PHP and counts no visit. An
 * unknown name gets 404, another one 405, or the response for its site's state.
 */
function askEdge(
  hostName: string,
  { edgeListen }: Where,
  asker: Asker | undefined,
): Promise<{ status?: number; fault?: string }> {
  const host = ['0.0.0.0', '::'].includes(edgeListen.host) ? '127.0.0.1' : edgeListen.host
  return new Promise((resolve) => {
    const { port } = edgeListen
    const options = { host, port, method: 'TRACE', headers: { host: hostName } } as const
    const header = asker && siteHeader(asker.edgeKey, 'http', asker.siteId)
    const createConnection = () => {
      const socket = connect({ host, port, timeout: PATIENCE_MS })
      if (header) socket.write(header)
      return socket
    }
    const asked = request({ ...options, createConnection, timeout: PATIENCE_MS }, (response) => {
      response.resume()
      const { statusCode: status = 0 } = response
      resolve(status === 404 ? { status, fault: 'the edge does not know it yet' } : { status })
    })
    asked.on('timeout', () => asked.destroy(new Error('it did not respond in time')))
    asked.on('error', (error) => resolve({ fault: `the edge does not respond (${error.message})` }))
    asked.end()
  })
}
