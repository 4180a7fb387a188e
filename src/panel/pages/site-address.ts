/** Returns the web address for a site's host name, with HTTPS if the panel uses HTTPS. */
export const siteAddress = (hostName: string): string =>
  `${location.protocol === 'https:' ? '//' : 'http://'}${hostName}`

/** The site's host name under the staging domain, which SFTP uses too. */
export const stagingAddress = (site: { readonly name: string; readonly sftpDomain: string }): string =>
  `${site.name}.${site.sftpDomain.replace(/^sftp\./, '')}`
