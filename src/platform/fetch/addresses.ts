import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { createOwnAddresses } from './own-addresses.ts'
import { createResolver, type Resolver } from './resolver.ts'

/** One address that a host name resolves to. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

/**
 * The host name is not allowed because of its addresses, or is not a valid host name. The message may be shown to
 * users.
 */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused'
}

/** The host name has no address, or the resolver did not answer. The message may be shown to users. */
export class AddressNotFound extends Error {
  override readonly name = 'AddressNotFound'
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Returns whether an address (IPv4 dotted decimal or IPv6, without brackets) belongs to the public internet. It is
 * false for everything else: loopback, private, link-local, shared (RFC 6598), multicast, documentation, benchmarking,
 * unspecified, and text that is not an address.
 * IPv4 inside IPv6 counts as the IPv4 address for the mapped form and for NAT64 (RFC 6052), through which whole
 * networks reach IPv4. 6to4 and Teredo are always refused (RFC 7526: they are no longer in use).
 */
export function isPublicAddress(ip: string): boolean {
  const kind = isIP(ip)
  if (kind === 4) return ipaddr.IPv4.parse(ip).range() === 'unicast'
  if (kind === 0) return false
  // ipaddr.js reads ::8.8.8.8 as ::ffff:8.8.8.8, which is another address. This gives it the form without dots.
  const address = ipaddr.IPv6.parse(canonicalHost(ip))
  if (address.isIPv4MappedAddress()) return address.toIPv4Address().range() === 'unicast'
  if (address.match(nat64)) return new ipaddr.IPv4(address.toByteArray().slice(12)).range() === 'unicast'
  // ipaddr.js also calls unassigned space "unicast", including ::127.0.0.1 (IPv4-compatible). Only 2000::/3 is
  // assigned.
  return address.match(globalUnicast) && address.range() === 'unicast'
}

/** Returns a check for addresses that users may make Stead reach: the public internet without this machine. */
export const outsideOnly = (isOwn: (address: string) => boolean) => (address: string) =>
  isPublicAddress(address) && !isOwn(address)

/**
 * Returns the host as the URL standard reads it: lower case, punycode, and addresses in canonical form, so that
 * `0x7f.1`, `2130706433`, `017700000001`, `127.0.0.1.` and `①②⑦.0.0.1` are all `127.0.0.1`. IPv6 is returned without
 * brackets.
 * @throws AddressRefused when it is not a host name
 */
export function canonicalHost(hostname: string): string {
  const bracketed = isIP(hostname) === 6 ? `[${hostname.replace(/%.*$/, '')}]` : hostname
  const wellFormed = /^(\[[^\]]*\]|[^\s/\\?#@:]+)$/.test(bracketed)
  const host = wellFormed ? URL.parse(`http://${bracketed}`)?.hostname : undefined
  if (!host) throw new AddressRefused(`“${hostname.slice(0, 255)}” is not a host name`)
  return host.startsWith('[') ? host.slice(1, -1) : host
}

const isOfInterfaces = createOwnAddresses()

/**
 * Returns every address of a host name (or of a literal address in any spelling), in the resolver's order. If one
 * address is not public, it refuses the name as a whole: a name that points both ways is a mistake or an attack.
 * Connect to exactly these addresses, because the answer to another lookup could differ.
 * @param options.allowPrivate allows private and loopback addresses (the explicit test setting)
 * @param options.isOwn returns whether an address leads to this machine; by default, those of its interfaces do
 * @throws AddressRefused, AddressNotFound
 */
export async function lookupPublic(
  hostname: string,
  options: {
    allowPrivate: boolean
    isOwn?: (address: string) => boolean
    resolve?: (name: string) => Promise<ResolvedAddress[]>
  },
): Promise<ResolvedAddress[]> {
  const host = canonicalHost(hostname)
  const addresses = await addressesOf(host, options.resolve ?? ((name) => systemResolve(name)))
  if (addresses.length === 0) throw new AddressNotFound(`${host} has no address`)
  const isOutside = outsideOnly(options.isOwn ?? isOfInterfaces)
  const inward = addresses.find(({ address }) => !isOutside(address))
  // The message does not contain the address, which would show users the internal numbering.
  if (inward && !options.allowPrivate) throw new AddressRefused(`${host} is not on the public internet`)
  return addresses
}

async function addressesOf(host: string, resolve: (name: string) => Promise<ResolvedAddress[]>) {
  const literal = isIP(host)
  if (literal !== 0) return [{ address: host, family: literal as 4 | 6 }]
  // RFC 6761 §6.3: these are always loopback, and not every system resolver knows it.
  if (/(^|\.)localhost\.?$/.test(host)) return [{ address: '127.0.0.1', family: 4 as const }]
  try {
    return await resolve(host)
  } catch (cause) {
    throw new AddressNotFound(`${host} could not be resolved`, { cause })
  }
}

/** The time limit for one name. */
const LOOKUP_MS = 5_000

const machines = createResolver({ timeoutMs: LOOKUP_MS })

/**
 * Resolves a name that a user chose. The system's own lookup would wait for the user's name servers in one of the
 * process's few threads. A handful of names with silent servers would then block all other lookups.
 */
export const systemResolve = async (
  name: string,
  resolver: Pick<Resolver, 'findAll'> = machines,
): Promise<ResolvedAddress[]> =>
  (await resolver.findAll(name)).map((address) => ({ address, family: isIP(address) as 4 | 6 }))
