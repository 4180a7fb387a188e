/** Nobody in the public DNS has names that end so (RFC 6761, RFC 6762, RFC 8375; `internal`: kept for private use by ICANN). */
const endings = ['localhost', 'test', 'local', 'internal', 'home.arpa'] as const

/** How long a certificate of the installation itself lasts: as one of a public authority, so that browsers have nothing against it. */
export const LOCAL_CERTIFICATE_MS = 90 * 86_400_000

const isWithin = (hostName: string, domain: string): boolean => `.${hostName}`.endsWith(`.${domain}`)

/** The domain whose names the installation certifies itself: that of sites' first addresses, when no public authority knows it. */
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

/** Whether a name, which is not the domain itself, lies in it. */
export const isBelow = (hostName: string, domain: string): boolean => hostName !== domain && isWithin(hostName, domain)
