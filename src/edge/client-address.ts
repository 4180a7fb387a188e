import type { TLSSocket } from 'node:tls'
import ipaddr from 'ipaddr.js'
import type { VisitRequest } from './visit.ts'

/** Who a request comes from, as far as it can be believed. */
export interface Client {
  /** Address of the visitor. */
  readonly address: string
  /** Value of `X-Forwarded-For` for the host: the visitor first, then the believed proxies. */
  readonly forwardedFor: string
  readonly scheme: 'http' | 'https'
}

/** Tells the client of a request. */
export type ReadClient = (request: Pick<VisitRequest, 'headers' | 'socket'>) => Client

/**
 * Makes a reader of client addresses. `X-Forwarded-For` is believed from the right up to the first address that is no
 * trusted proxy; everything left of that could have been written by the visitor. From others it is ignored.
 * @param trustProxy addresses or networks (`10.0.0.0/8`)
 * @param publicScheme the scheme by which visitors come when no trusted proxy says otherwise
 * @throws Error when an entry is no address or network
 */
export function createClientReader(trustProxy: readonly string[], publicScheme: 'http' | 'https'): ReadClient {
  const trusted = createTrust(trustProxy)
  return (request) => {
    const peer = plainAddress(request.socket.remoteAddress ?? '')
    const scheme = (request.socket as TLSSocket).encrypted ? 'https' : publicScheme
    if (!trusted(peer)) return { address: peer, forwardedFor: peer, scheme }
    const chain = believed(request.headers['x-forwarded-for'], peer, trusted)
    const proto = String(request.headers['x-forwarded-proto'] ?? '').toLowerCase()
    return {
      address: chain[0] as string,
      forwardedFor: chain.join(', '),
      scheme: proto === 'http' || proto === 'https' ? proto : scheme,
    }
  }
}

/** Tells whether an address is one of the trusted proxies. @throws Error when an entry is no address or network */
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

/** Some proxies write `192.0.2.1:4711` or `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const match = /^\[([^\]]*)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text)
  return match?.[1] ?? match?.[2] ?? text
}

/** A dual-stack socket shows IPv4 peers as `::ffff:192.0.2.1`. */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address

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
