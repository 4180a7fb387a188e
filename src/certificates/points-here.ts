import { Resolver } from 'node:dns/promises'
import ipaddr from 'ipaddr.js'
import { meansNoRecords } from '../platform/fetch/no-records.ts'
import { declareMemory } from '../platform/process-memory.ts'

const TIMEOUT_MS = 4_000

export interface PointsHereOptions {
  /** The addresses of this installation. */
  readonly addresses: readonly string[]
  /** The addresses of DNS servers, by default the machine's. */
  readonly resolvers: readonly string[]
  /** Returns whether a request for the name comes back here through any proxy. By default, this is not checked. */
  readonly comesBack?: (hostName: string) => Promise<boolean>
}

/** Returns why an authority would not find a name here, as a sentence without a full stop. Undefined when it would. */
export async function whyElsewhere(
  hostName: string,
  { addresses, resolvers, comesBack }: PointsHereOptions,
): Promise<string | undefined> {
  const found = await addressesOf(hostName, resolvers)
  if (typeof found === 'string') return found
  const own = new Set(addresses.map(plain))
  if (found.length === 0) return `${hostName} has no address in the DNS; it must be one of ${[...own].join(', ')}`
  // An authority uses any of them.
  const others = found.filter((address) => !own.has(plain(address)))
  if (others.length === 0) return undefined
  const fault = `${hostName} points to ${others.join(', ')} in the DNS, but must only point to ${[...own].join(', ')}`
  if (!comesBack) return fault
  // A CDN, or a proxy of the site's owner.
  if (await comesBack(hostName)) return undefined
  return `${fault}, or to a proxy that forwards requests for http://${hostName} to Stead; its current target does not`
}

/** Returns whether the DNS servers answer at all, by asking for the root of the DNS. */
export async function resolversAnswer(resolvers: readonly string[]): Promise<boolean> {
  const answer = await resolverOf(resolvers)
    .resolveNs('.')
    .catch((error: NodeJS.ErrnoException) => error.code)
  return typeof answer === 'object' || meansNoRecords(answer ?? 'unknown')
}

/** Returns why a name leads nowhere, as a sentence without a full stop. Undefined when it has an address. */
export async function whyNowhere(hostName: string, resolvers: readonly string[]): Promise<string | undefined> {
  const found = await addressesOf(hostName, resolvers)
  if (typeof found === 'string') return found
  return found.length === 0 ? `${hostName} has no address in the DNS` : undefined
}

/** A new resolver costs as much as ten questions. After a minute, one may have other servers of the machine. */
const RESOLVER_MS = 60_000
const kept = new Map<string, { readonly resolver: Resolver; readonly atMs: number }>()
declareMemory(() => kept.clear())

function resolverOf(resolvers: readonly string[]): Resolver {
  const key = resolvers.join()
  const known = kept.get(key)
  if (known && performance.now() - known.atMs < RESOLVER_MS) return known.resolver
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 2 })
  if (resolvers.length > 0) resolver.setServers([...resolvers])
  // Settings name one list of servers.
  kept.clear()
  kept.set(key, { resolver, atMs: performance.now() })
  return resolver
}

/** @returns a sentence when the lookup fails */
async function addressesOf(hostName: string, resolvers: readonly string[]): Promise<string[] | string> {
  const resolver = resolverOf(resolvers)
  const asked = await Promise.all([look(() => resolver.resolve4(hostName)), look(() => resolver.resolve6(hostName))])
  const failed = asked.find((answer) => typeof answer === 'string')
  if (typeof failed === 'string') return `${hostName} cannot be looked up in the DNS (${failed})`
  return (asked as string[][]).flat()
}

/** @returns a code when the lookup fails */
async function look(ask: () => Promise<string[]>): Promise<string[] | string> {
  try {
    return await ask()
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return meansNoRecords(code) ? [] : code
  }
}

const plain = (address: string): string =>
  ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : address
