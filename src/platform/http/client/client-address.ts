import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import { plainAddress } from './plain-address.ts'
import { declaredOf, type LooksAt } from './proxy-protocol.ts'

/** The client that a request comes from, as far as its headers can be trusted. */
export interface Client {
  /** The visitor's address. */
  readonly address: string
  /** The value of `X-Forwarded-For` for the host: the visitor first, then the trusted proxies. */
  readonly forwardedFor: string
  readonly scheme: 'http' | 'https'
  /** Whether a trusted proxy has declared the scheme, or the connection itself shows it. */
  readonly isSchemeKnown: boolean
  /** What Stead itself checks on this connection. Undefined for requests of visitors and sites. */
  readonly looksAt?: LooksAt | undefined
}

/** Returns the client of a request. */
export type ReadClient = (request: { readonly headers: IncomingHttpHeaders; readonly socket: Socket }) => Client

/**
 * Creates the reader of client addresses that edge and API share.
 * It reads `X-Forwarded-For` from the right, up to the first address that is not a trusted proxy. The visitor could
 * have written everything left of that.
 * It reads `X-Forwarded-Proto` in the same way: each proxy may have added a value, and that of the outermost trusted
 * proxy counts. It ignores both headers from other peers.
 * @param trustProxy addresses or networks (`10.0.0.0/8`)
 * @param publicScheme the scheme that visitors use when no trusted proxy declares another
 * @throws Error when an entry is not an address or a network
 */
export function createClientReader(trustProxy: readonly string[], publicScheme: 'http' | 'https'): ReadClient {
  const trusted = createTrust(trustProxy)
  return ({ headers, socket }) => {
    const declared = declaredOf(socket)
    const peer = peerAddress(socket)
    const ownScheme = (socket as TLSSocket).encrypted ? 'https' : declared?.scheme
    const known = (scheme: Client['scheme'] | undefined) => ({
      scheme: scheme ?? publicScheme,
      isSchemeKnown: scheme !== undefined,
    })
    if (declared?.isSite || !trusted(peer))
      return { address: peer, forwardedFor: peer, ...known(ownScheme), looksAt: declared?.looksAt }
    const chain = believed(headers['x-forwarded-for'], peer, trusted)
    return {
      address: chain[0] as string,
      forwardedFor: chain.join(', '),
      ...known(saidScheme(headers['x-forwarded-proto'], chain.length - 1) ?? ownScheme),
    }
  }
}

/**
 * Returns the scheme that the outermost trusted proxy declares. A proxy may also overwrite the values of those before
 * it.
 */
function saidScheme(header: string | string[] | undefined, proxies: number): Client['scheme'] | undefined {
  if (header === undefined) return undefined
  const values = String(header).split(',')
  const value = (values[Math.max(0, values.length - Math.max(1, proxies))] as string).trim().toLowerCase()
  return value === 'http' || value === 'https' ? value : undefined
}

/**
 * Returns the other end of a connection: the address that a balancer declares (PROXY protocol), or the connected one.
 */
export const peerAddress = (socket: Socket): string =>
  plainAddress(declaredOf(socket)?.address ?? socket.remoteAddress ?? '')

/**
 * Returns a check for whether an address is a trusted proxy.
 * @throws Error when an entry is not an address or a network
 */
export function createTrust(trustProxy: readonly string[]): (address: string) => boolean {
  const networks = trustProxy.map(network)
  return (address) => networks.length > 0 && isWithin(address, networks)
}

function believed(
  header: string | string[] | undefined,
  peer: string,
  trusted: (address: string) => boolean,
): string[] {
  const chain = [peer]
  const hops = String(header ?? '').split(',')
  while (hops.length > 0 && trusted(chain[0] as string)) {
    const hop = plainAddress(withoutPort((hops.pop() as string).trim()))
    if (!ipaddr.isValid(hop)) break
    chain.unshift(hop)
  }
  return chain
}

/** Removes the port, because some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const match = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text)
  return match?.[1] ?? match?.[2] ?? text
}

type Network = [ipaddr.IPv4 | ipaddr.IPv6, number]

function network(entry: string): Network {
  if (entry.includes('/')) return ipaddr.parseCIDR(entry)
  const address = ipaddr.process(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

function isWithin(text: string, networks: readonly Network[]): boolean {
  if (!ipaddr.isValid(text)) return false
  const address = ipaddr.process(text)
  return networks.some(([base, bits]) => address.kind() === base.kind() && address.match(base, bits))
}
