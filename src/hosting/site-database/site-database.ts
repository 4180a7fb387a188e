/** How a site's own database is seen from outside, whatever kind it is. */
export interface SiteDatabase {
  /** Looks cheaply, for each request: microseconds. @returns what is wrong, in words for the site's owner; nothing when all is well */
  glance(siteDirectory: string): string | undefined
  /** Looks at what it takes a moment to see, before the site's PHP starts. */
  inspect(siteDirectory: string): string | undefined
}

/** A site cannot be served as it is, and PHP must not start for it: it would make the site anew. */
export class SiteUnavailable extends Error {
  override readonly name = 'SiteUnavailable'
}
