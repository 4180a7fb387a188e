import { isSessionCookie } from '../../platform/http/client/session-cookies.ts'

/** What decides for whom a cookie of a site's answer may be. */
export interface CookieDomains {
  /** That the visitor asked for. */
  readonly hostName: string
  /** All sites have a name right below it: a cookie for the domain itself would be one for all of them. */
  readonly stagingDomain: string
}

/** Anything else (escapes, other alphabets, a port) some browser may read as another name than we do. */
const PLAIN = /^[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?$/

/**
 * What of a `Set-Cookie` the visitor gets. A site sets no session of the panel. A cookie for the staging domain or what is above it would reach other people's sites;
 * it is treated as browsers treat one for a public suffix (RFC 6265 §5.3 step 5): refused, or for the host alone where the host is that
 * very name. Of several `Domain` attributes the last counts for browsers; here all have to be right.
 * @returns undefined: the cookie is left out
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

/** The staging domain, what is above it, and names of one label. */
const isShared = (domain: string, stagingDomain: string): boolean =>
  isWithin(stagingDomain, domain) || !domain.includes('.')
