import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import { getDomain } from 'tldts'

const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/
/** Octets of a name in text, without the final dot (RFC 1035 §2.3.4). */
const MOST_OCTETS = 253

/**
 * Returns a name in the form of zones: A-labels (IDNA, by UTS #46 as in browsers), lower case, no final dot.
 * @returns undefined for an invalid name
 */
export function normalName(text: string): string | undefined {
  const ascii = /^[\x21-\x7e]*$/.test(text) ? text.toLowerCase() : domainToASCII(text)
  const name = ascii.replace(/\.$/, '')
  return name.length <= MOST_OCTETS && name.split('.').every((label) => LABEL.test(label)) ? name : undefined
}

/** Returns a host name that people can visit: at least two labels, no underscores, and not an address. */
export function normalHostName(text: string): string | undefined {
  const name = normalName(text.trim())
  if (!name?.includes('.') || name.includes('_') || isIP(name) !== 0 || /\.\d+$/.test(name)) return undefined
  return name.split('.').every((label) => !label.startsWith('xn--') || isPunycode(label)) ? name : undefined
}

/**
 * Returns whether a label decodes as Punycode. Browsers open no name with a label that begins as Punycode and does not
 * decode, but Node leaves such a label unchanged.
 */
function isPunycode(label: string): boolean {
  const decoded = domainToUnicode(label)
  return decoded !== label && domainToASCII(decoded) === label
}

/**
 * Returns the zone that a host name belongs to: its registrable domain by the public suffix list.
 * @returns undefined for a public suffix itself
 */
export const zoneNameOf = (hostName: string): string | undefined =>
  getDomain(hostName, { allowPrivateDomains: true }) ?? undefined

/** Returns the part of a host name before its zone, which is empty for the zone itself. */
export const labelIn = (zone: string, hostName: string): string =>
  hostName === zone ? '' : hostName.slice(0, -zone.length - 1)

/** Returns the whole name of a record. */
export const hostNameIn = (zone: string, label: string): string => (label === '' ? zone : `${label}.${zone}`)
