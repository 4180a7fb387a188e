import { isIP } from 'node:net'

/*
 * Addresses in records. The API, zone-file imports, and the name server all parse an address here: an accepted record
 * can be served, and two spellings of one address are the same record.
 */

export type AddressType = 'A' | 'AAAA'

/**
 * Returns an address in wire format. Refuses zone identifiers (`fe80::1%eth0`), which have a meaning on one machine
 * only.
 * @throws RangeError when the text is not an address of the type
 */
export function addressBytes(type: AddressType, text: string): Buffer {
  if (isIP(text) !== (type === 'A' ? 4 : 6) || text.includes('%')) throw new RangeError(`not an address: ${text}`)
  if (type === 'A') return Buffer.from(text.split('.').map(Number))
  const [front = [], back] = hexGroups(text)
  const zeros = back ? Array<number>(8 - front.length - back.length).fill(0) : []
  return Buffer.from([...front, ...zeros, ...(back ?? [])].flatMap((group) => [group >> 8, group & 0xff]))
}

/**
 * Returns the canonical spelling of an address (RFC 5952).
 * @throws RangeError when the text is not an address of the type
 */
export function canonicalAddress(type: AddressType, text: string): string {
  const bytes = addressBytes(type, text)
  if (type === 'A') return text
  // RFC 5952 §5: an embedded IPv4 address is written in its own form.
  return isMapped(bytes) ? `::ffff:${bytes.subarray(12).join('.')}` : compressed(text)
}

/** Writes an IPv6 address with hexadecimal groups only, zeros compressed. */
const compressed = (text: string): string => new URL(`http://[${text}]`).hostname.slice(1, -1)

/** Returns the groups before and after `::`. */
const hexGroups = (text: string): number[][] =>
  compressed(text)
    .split('::')
    .map((half) => (half === '' ? [] : half.split(':').map((group) => Number.parseInt(group, 16))))

/** Returns whether the bytes are `::ffff:0:0/96` (RFC 4291 §2.5.5.2). */
const isMapped = (bytes: Buffer): boolean => bytes.readBigUInt64BE(0) === 0n && bytes.readUInt32BE(8) === 0xffff
