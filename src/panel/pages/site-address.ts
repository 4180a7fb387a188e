/** Returns the web address of a site, from its host name: over HTTPS where the panel itself is. */
export const siteAddress = (hostName: string): string =>
  `${location.protocol === 'https:' ? '//' : 'http://'}${hostName}`
