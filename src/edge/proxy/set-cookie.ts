import { isSessionCookie } from '../../platform/http/client/session-cookies.ts'

/** Decides which names may get a cookie of a site's answer. */
export interface CookieDomains {
  /** The host name that the visitor requested. */
  readonly hostName: string
  /** All sites have a name directly below it, so a cookie for the domain itself would reach all of them. */
  readonly stagingDomain: string
}

/** With anything else (escapes, other alphabets, a port), some browser may read a different name. */
const PLAIN = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/

/**
 * Returns the `Set-Cookie` value for the visitor. A site must not set sessions of the panel. A cookie for the staging
 * domain or above would reach other people's sites. It is treated as browsers treat one for a public suffix (RFC 6265
 * §5.3 step 5): refused, or limited to the host if that is the very name. Browsers use the last of several `Domain`
 * attributes. Here, all must be valid.
 * @returns undefined when the cookie is dropped
 */
export function cookieForVisitor(value: string, domains: CookieDomains): string | undefined {
  const [pair = '', ...attributes] = value.split(';')
  if (isSessionCookie(pair)) return undefined
  if (!/;\s*domain/i.test(value)) return value
  const kept = [pair]
  let isForHost = false
  for (const attribute of attributes) {
    const [, given] = /^\s*domain\s*=(.*)$/is.exec(attribute) ?? []
    if (given === undefined) {
      kept.push(attribute)
      continue
    }
    const domain = given.trim().replace(/^\./, '').replace(/\.$/, '').toLowerCase()
    if (domain === '') continue
    if (!PLAIN.test(domain) || !isWithin(domains.hostName, domain)) return undefined
    if (!isShared(domain, domains.stagingDomain)) kept.push(attribute)
    else if (domain === domains.hostName) isForHost = true
    else return undefined
  }
  return isForHost ? kept.filter((part) => !/^\s*domain\s*=/i.test(part as string)).join(';') : kept.join(';')
}

const isWithin = (hostName: string, domain: string): boolean => hostName === domain || hostName.endsWith(`.${domain}`)

/** Returns whether it is the staging domain, a domain above it, or a name of one label. */
const isShared = (domain: string, stagingDomain: string): boolean =>
  isWithin(stagingDomain, domain) || !domain.includes('.')
