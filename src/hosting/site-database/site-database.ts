/** Inspects a site's database from outside, for each kind of database. */
export interface SiteDatabase {
  /**
   * Checks within microseconds, for each request. @returns what is wrong, in words for the site's owner, or undefined
   */
  glance(siteDirectory: string): string | undefined
  /** Checks more slowly and thoroughly, before the site's PHP starts. */
  inspect(siteDirectory: string): string | undefined
}

/** A site cannot be served in its current state. PHP must not start for it, because it would create the site again. */
export class SiteUnavailable extends Error {
  override readonly name = 'SiteUnavailable'
}
