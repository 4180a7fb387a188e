/**
 * Endings that no public domain has (RFC 6761, RFC 6762, RFC 7686, RFC 8375, RFC 9476; `internal` is ICANN's for
 * private networks). Machines look for their neighbors there, and clouds for their metadata services:
 * `metadata.google.internal`. `test`, `example` and `localhost` are not listed, because laptops use them.
 */
const ENDINGS = ['invalid', 'internal', 'local', 'localdomain', 'onion', 'alt', 'arpa']

/** Metadata services of clouds outside those endings. */
const METADATA = new Set([
  'metadata.azure.com',
  'metadata.packet.net',
  'metadata.platformequinix.com',
  'metadata.tencentyun.com',
])

/**
 * Browsers read a host whose last label is a number, including a hexadecimal one, as an IPv4 address (URL Standard
 * §3.5).
 */
const ENDS_LIKE_ADDRESS = /\.(?:\d+|0x[0-9a-f]*)$/

/** Returns whether a host name, in the form of zones, can never lead visitors of the internet anywhere. */
export const isNeverPublic = (hostName: string): boolean =>
  !hostName.includes('.') ||
  ENDS_LIKE_ADDRESS.test(hostName) ||
  METADATA.has(hostName) ||
  ENDINGS.some((ending) => hostName.endsWith(`.${ending}`))
