/** Returns the web address of a site, from its host name: over HTTPS where the panel itself is. */
export const siteAddress = (hostName: string): string =>
  `${location.protocol === 'https:' ? '//' : 'http://'}${hostName}`

/** The host name of a site under the staging domain, which SFTP is under, too. */
export const stagingAddress = (site: { readonly name: string; readonly sftpDomain: string }): string =>
  `${site.name}.${site.sftpDomain.replace(/^sftp\./, '')}`
