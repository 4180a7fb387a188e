import { getDomain } from 'tldts'
import { listedUnder } from '../../platform/wildcard-name.ts'
import { mailDomains, type NameSettings, panelNames, serviceNames } from './service-names.ts'

/* Names that belong to the installation. All code that gives a name to an account checks these. */

/** Names under the staging domain that visitors would take for the service. */
const serviceWords = new Set(
  `admin api autoconfig autodiscover blog dns docs edge ftp help host imap login mail ns1 ns2 panel root sftp smtp status stead
  support test webmail www`.split(/\s+/),
)

interface Reserved {
  /** The host names of the installation's services. */
  readonly services: readonly string[]
  /** The registrable domains of these, and of the addresses that Stead's mail comes from. */
  readonly domains: readonly string[]
}

const known = new WeakMap<NameSettings, Reserved>()

function reservedBy(config: NameSettings): Reserved {
  const before = known.get(config)
  if (before) return before
  const services = serviceNames(config)
  const domains = [...new Set([...services, ...mailDomains(config)].map(registrableDomain))].filter(
    (name) => name !== undefined,
  )
  const reserved = { services, domains }
  known.set(config, reserved)
  return reserved
}

/**
 * Returns the registrable domain. For a public suffix itself (a sites' domain on the public suffix list), it is the one
 * above.
 */
const registrableDomain = (name: string): string | undefined =>
  getDomain(name, { allowPrivateDomains: true }) ?? getDomain(name) ?? undefined

const isWithin = (name: string, domain: string): boolean => name === domain || name.endsWith(`.${domain}`)

/**
 * Returns how a host name belongs to the installation: as the name of a `service`, or by its registrable `domain`.
 * {@link isReservedSiteName} handles first addresses of sites.
 */
export function reservationOf(hostName: string, config: NameSettings): 'service' | 'domain' | undefined {
  const { services, domains } = reservedBy(config)
  if (services.some((service) => listedUnder(service).includes(hostName))) return 'service'
  return domains.some((domain) => isWithin(hostName, domain)) ? 'domain' : undefined
}

/**
 * Returns whether no site may have a name: visitors would take its address for a service, or a service is at or below
 * it.
 */
export function isReservedSiteName(name: string, config: NameSettings): boolean {
  if (serviceWords.has(name)) return true
  const address = `${name}.${config.stagingDomain}`
  return reservedBy(config).services.some((service) => isWithin(service, address))
}

/** Returns the registrable domains that only the operator may have as zones. */
export const reservedDomains = (config: NameSettings): readonly string[] => reservedBy(config).domains

/**
 * Returns host names that no site may have, in the form of routes: the services, and the names between each one and its
 * registrable domain.
 */
export function reservedHosts(config: NameSettings): string[] {
  const { services, domains } = reservedBy(config)
  const above = services.flatMap((service) => {
    const labels = service.split('.')
    return [...labels.map((_, at) => labels.slice(at).join('.')), ...listedUnder(service)]
  })
  return [...new Set(above)].filter((name) => services.includes(name) || domains.some((each) => isWithin(name, each)))
}

/**
 * Returns the registrable domain that the panel shares with the first addresses of sites. Browsers take both for one
 * site, so cookies of a tenant's pages reach the panel. Returns `undefined` if they share only a public suffix.
 */
export function domainSharedWithSites(config: NameSettings): string | undefined {
  const { stagingDomain } = config
  // No site can have that name, so it is never the panel's own.
  const ofSites = getDomain(`0.${stagingDomain}`, { allowPrivateDomains: true })
  return ofSites !== null && panelNames(config).some((name) => isWithin(name, ofSites)) ? ofSites : undefined
}
