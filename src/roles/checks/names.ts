import { Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'
import { localDomainOf } from '../../certificates/local-domain.ts'
import { whyElsewhere, whyNowhere } from '../../certificates/points-here.ts'
import type { Config } from '../../config.ts'
import { edgeAddresses } from '../../resources/sites/addresses/edge-addresses.ts'
import { listeners } from '../listeners.ts'
import { type Check, type CheckContext, type Finding, ok, problem, skipped, warning } from './check.ts'

const PATIENCE_MS = 4000
const isLoopback = (address: string): boolean => /^(127\.|::1$)/.test(address)

/** Returns whether only the operator's own machines know a name, such as one that ends in `.localhost`. */
const isLocal = (name: string): boolean => localDomainOf({ localAuthority: 'auto', stagingDomain: name }) !== undefined

/** Checks that host names of the installation lead visitors and clients to it. */
export const namesCheck: Check = {
  area: 'names',
  async run(context) {
    const { config, asksOutside } = context
    const found = addresses(config)
    if (!asksOutside) return found
    const lookedUp = await Promise.all([staging(config), ...ownNames(config).map((each) => leads(each, config))])
    return [...found, ...lookedUp]
  },
}

function addresses(config: Config): Finding[] {
  const own = edgeAddresses(config)
  if (isLocal(config.stagingDomain) || !own.every(isLoopback)) return []
  const text = `Visitors cannot reach the addresses of the edge: ${own.join(', ')}.`
  return [problem(text, 'Set the public addresses with STEAD_EDGE_ADDRESSES.')]
}

/** Checks the domain that all first addresses of sites are below. */
async function staging(config: Config): Promise<Finding> {
  const { stagingDomain, resolvers } = config
  if (isLocal(stagingDomain)) return ok(`Names below ${stagingDomain} are local and need no public DNS.`)
  // A name that no site has shows the wildcard's addresses.
  const name = `stead-doctor-check.${stagingDomain}`
  const why = await whyElsewhere(name, { addresses: edgeAddresses(config), resolvers })
  if (why === undefined) return ok(`Names below ${stagingDomain} point to the edge.`)
  return problem(
    `New sites cannot be found: ${why}.`,
    `Add a record *.${stagingDomain} with the addresses of the edge.`,
  )
}

interface OwnName {
  readonly name: string
  readonly variable: string
}

function ownNames(config: Config): OwnName[] {
  const panel = config.panelUrl && new URL(config.panelUrl).hostname
  const all = [
    { name: config.apiName, variable: 'STEAD_API_NAME' },
    { name: panel, variable: 'STEAD_PANEL_URL' },
    ...config.dnsNameservers.map((name) => ({ name, variable: 'STEAD_DNS_NAMESERVERS' })),
  ]
  return all.filter(
    (each): each is OwnName => Boolean(each.name) && isIP(each.name?.replace(/^\[|\]$/g, '') ?? '') === 0,
  )
}

async function leads({ name, variable }: OwnName, { resolvers }: Config): Promise<Finding> {
  if (isLocal(name)) return ok(`${name} is local (${variable}).`)
  const why = await whyNowhere(name, resolvers)
  if (why === undefined) return ok(`${name} has an address (${variable}).`)
  return problem(`${why} (${variable}).`, `Add an address record for ${name}, or correct ${variable}.`)
}

/** Checks the DNS servers that Stead uses, and its own. */
export const dnsCheck: Check = {
  area: 'dns',
  async run(context) {
    const found = context.asksOutside ? [await asks(context.config)] : []
    return [...found, ...(await serves(context))]
  },
}

async function asks({ resolvers }: Config): Promise<Finding> {
  const resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 })
  if (resolvers.length > 0) resolver.setServers([...resolvers])
  const servers = resolver.getServers().join(', ')
  if (await answersAtAll(resolver)) return ok(`A DNS server responds: ${servers}.`)
  const text = `No DNS server responds (${servers || 'none is known'}), so Stead cannot look up domains and mail servers.`
  return warning(text, 'Check /etc/resolv.conf, or set other servers with STEAD_RESOLVERS.')
}

/** Checks the name server of this installation, if it runs here. */
async function serves({ config, running }: CheckContext): Promise<Finding[]> {
  const own = listeners(config).filter(({ role, address }) => role === 'dns' && address.port !== 0)
  if (own.length === 0) return [skipped('The name server is off (STEAD_DNS_LISTEN).')]
  if (running === 'stopped' || !running.has('dns')) return []
  return Promise.all(
    own.map(async ({ address: { host, port }, isOptional }) => {
      const resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 })
      const reached = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
      resolver.setServers([reached.includes(':') ? `[${reached}]:${port}` : `${reached}:${port}`])
      if (await answersAtAll(resolver)) return ok(`The name server responds on ${host}:${port}.`)
      const text = `The name server does not respond on ${host}:${port}.`
      const remedy = 'Check the log, and whether another program uses the port (STEAD_DNS_LISTEN).'
      return isOptional ? warning(text, remedy) : problem(text, remedy)
    }),
  )
}

/** Returns whether the server answers. A refusal is an answer, too. */
async function answersAtAll(resolver: Resolver): Promise<boolean> {
  return resolver.resolve4('stead-doctor-check.invalid').then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => !['ETIMEOUT', 'ECONNREFUSED', 'ECANCELLED', 'EBADRESP'].includes(code ?? ''),
  )
}
