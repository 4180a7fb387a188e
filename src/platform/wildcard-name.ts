/* Host names that represent all names one label below another: `*.example.com`. */

/** Returns whether a name is a wildcard. */
export const isWildcard = (hostName: string): boolean => hostName.startsWith('*.')

/**
 * Returns the wildcard that covers a name: one label, as in certificates (RFC 6125 §6.4.3). Undefined for a wildcard or
 * a single label.
 */
export function wildcardOver(hostName: string): string | undefined {
  const dot = hostName.indexOf('.')
  return dot > 0 && !isWildcard(hostName) ? `*${hostName.slice(dot)}` : undefined
}

/** Returns the names under which a host name may be listed, its own first. */
export function listedUnder(hostName: string): string[] {
  const wildcard = wildcardOver(hostName)
  return wildcard === undefined ? [hostName] : [hostName, wildcard]
}
