import { Resolver } from 'node:dns/promises'
import { request } from 'node:http'
import type { Config } from '../../config.ts'
import { edgeAddresses } from '../sites/site.ts'
import type { Check } from './check.store.ts'

/** For one question to one name server, and for the edge to say something. */
const PATIENCE_MS = 3000

type Where = Pick<Config, 'edgeAddresses' | 'edgeListen' | 'resolvers'>

/** What a domain is like from outside: where its name leads, and whether the edge answers for it. Never fails: a fault is what it says. */
export async function lookAtDomain(hostName: string, config: Where): Promise<Check> {
  const [dnsFault, edge] = await Promise.all([faultOfName(hostName, config), askEdge(hostName, config)])
  const isProvisioned = edge.fault === undefined
  const isHealthy = dnsFault === undefined && isProvisioned && (edge.status ?? 0) < 500
  const answerFault =
    isHealthy || !isProvisioned
      ? undefined
      : edge.status && edge.status >= 500
        ? `the site answers with ${edge.status}`
        : undefined
  const faults = [dnsFault, edge.fault, answerFault].filter((each) => each !== undefined)
  return {
    isDnsConfirmed: dnsFault === undefined,
    isProvisioned,
    isHealthy,
    reason: faults.length > 0 ? `${faults.join('; ')}` : null,
  }
}

/** @returns undefined when all its addresses are the edge's */
async function faultOfName(hostName: string, config: Where): Promise<string | undefined> {
  const resolver = new Resolver({ timeout: PATIENCE_MS, tries: 2 })
  if (config.resolvers.length > 0) resolver.setServers([...config.resolvers])
  const ours = new Set(edgeAddresses(config))
  const found = await Promise.all([resolver.resolve4(hostName), resolver.resolve6(hostName)].map(settled))
  const wanted = `its address records must be ${[...ours].join(' and ')}`
  const addresses = found.flatMap((each) => ('addresses' in each ? each.addresses : []))
  const failure = found.find((each) => 'code' in each && !['ENODATA', 'ENOTFOUND'].includes(each.code))
  if (addresses.length === 0)
    return failure && 'code' in failure
      ? `its name could not be looked up (${failure.code})`
      : `its name leads nowhere yet: ${wanted}`
  const others = addresses.filter((address) => !ours.has(address))
  return others.length > 0 ? `its name leads to ${others.join(' and ')}: ${wanted}` : undefined
}

const settled = (asked: Promise<string[]>): Promise<{ addresses: string[] } | { code: string }> =>
  asked.then(
    (addresses) => ({ addresses }),
    (error: NodeJS.ErrnoException) => ({ code: error.code ?? 'unknown' }),
  )

/**
 * Asks in a way that the edge answers by itself (no site has TRACE): nobody's PHP is woken for it, and no visit is counted. An unknown
 * name gets 404, another one 405, or what its site's state says.
 */
function askEdge(hostName: string, { edgeListen }: Where): Promise<{ status?: number; fault?: string }> {
  const host = ['0.0.0.0', '::'].includes(edgeListen.host) ? '127.0.0.1' : edgeListen.host
  return new Promise((resolve) => {
    const options = { host, port: edgeListen.port, method: 'TRACE', headers: { host: hostName }, agent: false } as const
    const asked = request({ ...options, timeout: PATIENCE_MS }, (response) => {
      response.resume()
      const { statusCode: status = 0 } = response
      resolve(status === 404 ? { status, fault: 'the edge does not know it yet' } : { status })
    })
    asked.on('timeout', () => asked.destroy(new Error('it said nothing in time')))
    asked.on('error', (error) => resolve({ fault: `the edge does not answer (${error.message})` }))
    asked.end()
  })
}
