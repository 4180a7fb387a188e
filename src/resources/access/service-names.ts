import { isIP } from 'node:net'
import type { Config } from '../../config.ts'

/* The host names of the installation's own services. */

export type NameSettings = Pick<
  Config,
  'apiName' | 'panelUrl' | 'stagingDomain' | 'dnsNameservers' | 'dnsCatalog' | 'apiListen' | 'mailFrom' | 'dkimDomain'
>

/** Returns the host name that SFTP clients connect to. */
export const sftpDomain = ({ stagingDomain }: Pick<Config, 'stagingDomain'>): string => `sftp.${stagingDomain}`

/** Returns the name servers of all zones, the primary first. */
export const nameserversOf = ({
  dnsNameservers,
  stagingDomain,
}: Pick<Config, 'dnsNameservers' | 'stagingDomain'>): readonly string[] =>
  dnsNameservers.length > 0 ? dnsNameservers : [`ns1.${stagingDomain}`, `ns2.${stagingDomain}`]

/** Returns the host names of the panel and the API. Addresses do not count. */
export function panelNames({ panelUrl, apiName, apiListen }: NameSettings): string[] {
  const hosts = [panelUrl && URL.parse(panelUrl)?.hostname, apiName, apiListen.host]
  return [...new Set(hosts.filter((host) => host !== undefined).map(plain))].filter(isName)
}

/**
 * Returns all of them: the panel, the API, SFTP, name servers, the catalog zone, and the domain of sites' first
 * addresses.
 */
export const serviceNames = (config: NameSettings): string[] => {
  const { stagingDomain, dnsCatalog } = config
  const others = [sftpDomain(config), ...nameserversOf(config), stagingDomain, ...(dnsCatalog ? [dnsCatalog] : [])]
  return [...new Set([...panelNames(config), ...others.map(plain)])]
}

/**
 * Returns the domains that Stead's own mail comes from. A person who controls one of them in the DNS can write in its
 * name.
 */
export const mailDomains = ({ mailFrom, dkimDomain }: NameSettings): string[] => {
  const ofSender = mailFrom.slice(mailFrom.lastIndexOf('@') + 1).replace(/>\s*$/, '')
  return [ofSender, ...(dkimDomain ? [dkimDomain] : [])].map(plain).filter(isName)
}

const plain = (host: string): string => host.toLowerCase().replace(/\.$/, '')

const isName = (host: string): boolean => host !== '' && isIP(host) === 0 && !/[[\]:]/.test(host)
