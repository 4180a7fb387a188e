/**
 * Endings that no name in the public DNS has (RFC 6761, RFC 6762, RFC 8375; ICANN reserves `internal` for private use).
 */
const endings = ['localhost', 'test', 'local', 'internal', 'home.arpa'] as const

/** The lifetime of the installation's own certificates: as of a public authority, so that browsers accept them. */
export const LOCAL_CERTIFICATE_MS = 90 * 86_400_000

const isWithin = (hostName: string, domain: string): boolean => `.${hostName}`.endsWith(`.${domain}`)

/**
 * Returns the domain whose names the installation certifies itself: that of sites' first addresses, when no public
 * authority knows it.
 */
export function localDomainOf({
  localAuthority,
  stagingDomain,
}: {
  readonly localAuthority: 'auto' | 'off'
  readonly stagingDomain: string
}): string | undefined {
  if (localAuthority === 'off') return undefined
  return endings.some((ending) => isWithin(stagingDomain, ending)) ? stagingDomain : undefined
}

/** Returns whether a name is in the domain, but is not the domain itself. */
export const isBelow = (hostName: string, domain: string): boolean => hostName !== domain && isWithin(hostName, domain)
