import ipaddr from 'ipaddr.js'

/**
 * Returns the key against which an address counts. An IPv4 address is one visitor. An IPv6 visitor has at least a whole
 * /64 (RFC 6177), so a count of single addresses would have no effect.
 */
export function addressKey(address: string): string {
  if (!address.includes(':') || !ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  const parts = (parsed as ipaddr.IPv6).parts.slice(0, 4)
  return `${parts.map((part) => part.toString(16)).join(':')}::/64`
}
