import { networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** Interfaces change: a laptop's network, an address that moves to this machine. */
const FRESH_MS = 5_000

/**
 * Returns a check for addresses of this machine, including public ones. Services on them expect visitors from outside,
 * and often trust those from inside.
 * @param also addresses that lead here without belonging to an interface, such as those of a router or load balancer in
 * front
 */
export function createOwnAddresses(
  also: readonly string[] = [],
  interfaces: typeof networkInterfaces = networkInterfaces,
): (address: string) => boolean {
  const given = also.flatMap((address) => plain(address) ?? [])
  let own = new Set<string>()
  let readAt = Number.NEGATIVE_INFINITY
  return (address) => {
    if (performance.now() - readAt > FRESH_MS) {
      const found = Object.values(interfaces()).flatMap((each) => each ?? [])
      own = new Set([...given, ...found.flatMap((each) => plain(each.address) ?? [])])
      readAt = performance.now()
    }
    const one = plain(address)
    return one !== undefined && own.has(one)
  }
}

const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Returns the canonical form of an address. IPv4 inside IPv6 becomes the IPv4 address. Undefined for text that is not
 * an address.
 */
function plain(address: string): string | undefined {
  const bare = address.replace(/%.*$/, '')
  if (!ipaddr.isValid(bare)) return undefined
  const parsed = ipaddr.process(bare)
  if (parsed.kind() === 'ipv6' && (parsed as ipaddr.IPv6).match(nat64))
    return new ipaddr.IPv4(parsed.toByteArray().slice(12)).toString()
  return parsed.toNormalizedString()
}
