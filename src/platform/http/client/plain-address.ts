/**
 * Returns the IPv4 address of a peer that a dual-stack socket shows as `::ffff:192.0.2.1`. Returns other addresses
 * unchanged.
 */
export const plainAddress = (address: string): string =>
  address.startsWith('::ffff:') && address.includes('.') ? address.slice(7) : address
