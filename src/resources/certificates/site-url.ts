import type { Config } from '../../config.ts'
import type { Tx } from '../../platform/db/database.ts'
import { hostOfAddress, httpsPort, type Site, siteAddress } from '../sites/public.ts'
import { findName } from './certificate.store.ts'
import { wildcardName } from './own-names.ts'

/**
 * Returns the URL of a site. It is https if its primary domain, or the first addresses together, have a certificate, or
 * if TLS ends before the edge.
 * @returns scheme, host name and, if needed, port
 */
export async function siteUrl(
  tx: Tx,
  site: Pick<Site, 'name' | 'primaryDomain'>,
  { config, now }: { config: Config; now: number },
): Promise<string> {
  const address = siteAddress(site, config)
  if (config.edgePublicPort === 443) return `https://${address}`
  const names = site.primaryDomain ? [site.primaryDomain] : [wildcardName(config), hostOfAddress(address)]
  if (config.edgeTlsListen === 'off' || !(await isAnyCertified(tx, names, now))) return `http://${address}`
  const port = httpsPort(config)
  return `https://${hostOfAddress(address)}${port === 443 ? '' : `:${port}`}`
}

async function isAnyCertified(tx: Tx, names: readonly (string | undefined)[], now: number): Promise<boolean> {
  for (const name of names) {
    const known = name === undefined ? undefined : await findName(tx, name)
    if (known?.chain != null && (known.expires_at ?? 0) > now) return true
  }
  return false
}
