import { Resolver } from 'node:dns/promises'
import { meansNoRecords } from '../platform/fetch/no-records.ts'
import { until } from './authority.ts'

const TIMEOUT_MS = 4_000
/** As many as the name server follows. */
const MOST_ALIASES = 9
/** The time for secondaries to learn of a zone, and to fetch it. */
const PATIENCE_MS = 120_000

type Resolvers = readonly string[]

/**
 * Returns the name at which an authority looks for the proof of a name (RFC 8555 §8.4), with or without a leading `*.`.
 */
export const proofName = (hostName: string): string => `_acme-challenge.${hostName.replace(/^\*\./, '')}`

function resolverOf(servers: Resolvers): Resolver {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  if (servers.length > 0) resolver.setServers([...servers])
  return resolver
}

/**
 * Follows aliases, as an authority does.
 * @param resolvers addresses of DNS servers, by default the machine's
 * @throws Error when the DNS lookup fails
 */
export async function followAliases(name: string, resolvers: Resolvers): Promise<string> {
  const resolver = resolverOf(resolvers)
  let at = name
  for (let followed = 0; followed < MOST_ALIASES; followed++) {
    const [target] = await found(() => resolver.resolveCname(at), at)
    if (target === undefined) return at
    at = target.toLowerCase()
  }
  throw new Error(`${name} is an alias of an alias, more than ${MOST_ALIASES} times`)
}

/** An address that answers for a zone, and the name server's name. */
export interface AuthoritativeServer {
  readonly name: string
  readonly address: string
}

/**
 * Returns all addresses of all name servers of a zone, as public resolvers see them.
 * @throws Error when there are none
 */
export async function nameServersOf(zone: string, resolvers: Resolvers): Promise<AuthoritativeServer[]> {
  const resolver = resolverOf(resolvers)
  const names = await found(() => resolver.resolveNs(zone), zone)
  if (names.length === 0) throw new Error(`${zone} has no name servers in the DNS`)
  const servers = await Promise.all(
    names.map(async (name) => {
      const addresses = await Promise.all([
        found(() => resolver.resolve4(name), name),
        found(() => resolver.resolve6(name), name),
      ])
      return addresses.flat().map((address) => ({ name, address }))
    }),
  )
  if (servers.flat().length === 0)
    throw new Error(`${names.join(' and ')}, the name servers of ${zone}, have no address`)
  return servers.flat()
}

async function found(ask: () => Promise<string[]>, name: string): Promise<string[]> {
  try {
    return await ask()
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    if (meansNoRecords(code)) return []
    throw new Error(`${name} cannot be looked up in the DNS (${code})`)
  }
}

export interface DnsProof {
  readonly name: string
  readonly value: string
  readonly servers: readonly AuthoritativeServer[]
  readonly signal: AbortSignal
  readonly patienceMs?: number
}

/**
 * Waits until each name server answers with the proof, because an authority may use any of them.
 * @returns those that do not, by name and address
 */
export async function untilAnswered({
  name,
  value,
  servers,
  signal,
  patienceMs = PATIENCE_MS,
}: DnsProof): Promise<string[]> {
  const giveUpAt = performance.now() + patienceMs
  let left = servers
  await until(
    async () => {
      const asked = await Promise.all(
        left.map(async (server) => ({ server, has: await hasProof(server, name, value) })),
      )
      left = asked.filter(({ has }) => !has).map(({ server }) => server)
    },
    () => left.length === 0 || performance.now() > giveUpAt,
    signal,
  )
  return left.map((server) => `${server.name} (${server.address})`)
}

async function hasProof({ address }: AuthoritativeServer, name: string, value: string): Promise<boolean> {
  const texts = await resolverOf([address])
    .resolveTxt(name)
    .catch(() => [])
  return texts.some((pieces) => pieces.join('') === value)
}
