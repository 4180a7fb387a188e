import { isBelow, localDomainOf } from '../../certificates/local-domain.ts'
import type { Config } from '../../config.ts'
import { isCertifiable } from './certifiable.ts'

/* Names of the installation itself: their certificates are no site's. */

/** In place of a site. */
export const NO_SITE = 0

type Needed = Pick<Config, 'edgeTlsListen' | 'stagingDomain' | 'apiTlsListen' | 'apiName' | 'apiTlsCertificate'>

const isPublic = (name: string): boolean =>
  isCertifiable(name) && localDomainOf({ localAuthority: 'auto', stagingDomain: name }) === undefined

/** The certificate of all first addresses of sites. @returns undefined where no public authority knows them */
export const wildcardName = ({ edgeTlsListen, stagingDomain }: Pick<Needed, 'edgeTlsListen' | 'stagingDomain'>) =>
  edgeTlsListen !== 'off' && isPublic(stagingDomain) ? `*.${stagingDomain}` : undefined

/** By which name the certificate of the API is ordered. @returns undefined where none is */
export function apiCertificateName(config: Needed): string | undefined {
  const { apiTlsListen, apiName, apiTlsCertificate, stagingDomain } = config
  if (apiTlsListen === 'off' || apiName === undefined || apiTlsCertificate !== undefined) return undefined
  const wildcard = wildcardName(config)
  const isCovered = isBelow(apiName, stagingDomain) && !apiName.slice(0, -stagingDomain.length - 1).includes('.')
  if (wildcard !== undefined && isCovered) return wildcard
  return isPublic(apiName) ? apiName : undefined
}

/** All names of the installation for which certificates are to be ordered. */
export function ownNames(config: Needed): string[] {
  const names = [wildcardName(config), apiCertificateName(config)]
  return [...new Set(names.filter((name) => name !== undefined))]
}
