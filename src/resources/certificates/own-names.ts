import { isBelow, localDomainOf } from '../../certificates/local-domain.ts'
import type { Config } from '../../config.ts'
import { isCertifiable } from './certifiable.ts'

/* Names of the installation itself, whose certificates belong to no site. */

/** Stands for no site. */
export const NO_SITE = 0

type Needed = Pick<Config, 'edgeTlsListen' | 'stagingDomain' | 'apiTlsListen' | 'apiName' | 'apiTlsCertificate'>

const isPublic = (name: string): boolean =>
  isCertifiable(name) && localDomainOf({ localAuthority: 'auto', stagingDomain: name }) === undefined

/**
 * Returns the name of the certificate for all first addresses of sites, or undefined if no public authority knows them.
 */
export const wildcardName = ({ edgeTlsListen, stagingDomain }: Pick<Needed, 'edgeTlsListen' | 'stagingDomain'>) =>
  edgeTlsListen !== 'off' && isPublic(stagingDomain) ? `*.${stagingDomain}` : undefined

/** Returns the name that the certificate of the API is ordered for, or undefined if none is. */
export function apiCertificateName(config: Needed): string | undefined {
  const { apiTlsListen, apiName, apiTlsCertificate, stagingDomain } = config
  if (apiTlsListen === 'off' || apiName === undefined || apiTlsCertificate !== undefined) return undefined
  const wildcard = wildcardName(config)
  const isCovered = isBelow(apiName, stagingDomain) && !apiName.slice(0, -stagingDomain.length - 1).includes('.')
  if (wildcard !== undefined && isCovered) return wildcard
  return isPublic(apiName) ? apiName : undefined
}

/** Returns all names of the installation that need certificates. */
export function ownNames(config: Needed): string[] {
  const names = [wildcardName(config), apiCertificateName(config)]
  return [...new Set(names.filter((name) => name !== undefined))]
}
