import ipaddr from 'ipaddr.js'

/**
 * Whose budget an address counts against: IPv4 is one visitor; of IPv6 one visitor has a whole /64 at least (RFC 6177), so that
 * counting single addresses would count nothing.
 */
export function addressKey(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const parts = (parsed as ipaddr.IPv6).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}
