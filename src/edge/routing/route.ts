import type { FlagsReadBy } from '../../site-flags.ts'

/** What the edge knows about one host name. */
export interface Route extends FlagsReadBy<'edge'> {
  /** Lower case, without port and trailing dot. */
  readonly hostName: string
  /** The site's own name: `hostName`, or the wildcard that covers it. Default: `hostName`. */
  readonly listedAs?: string
  readonly siteId: number
  readonly state: 'deploying' | 'cloning' | 'live' | 'disabled'
  /** The operator has suspended its account. */
  readonly isSuspended?: boolean
  /** The site could not be created, and stays in this state. */
  readonly deployFailed?: boolean
  /** The host that serves the site, and its `http://address:port`. */
  readonly hostId: number
  readonly upstream: string
  /** The number of its site directory, which another host never has. The host compares it with what it knows. */
  readonly place?: number | undefined
  /** The primary domain, to which this one redirects, or null. */
  readonly redirectsTo: string | null
  /** The site is being worked on: nobody gets anything from it, not even its owner. */
  readonly isClosed?: boolean
  /** The site is closed because it moves to another host. Its stored pages stay right. */
  readonly isMoving?: boolean
  /** The site is not in production, so answers ask search engines not to index it. */
  readonly isUnlisted?: boolean
  /** Increased by every purge of all pages. Stored pages of lower epochs are dead. */
  readonly cacheEpoch: number
  /** The same for files. */
  readonly cdnEpoch: number
  /** Until then visitors are challenged (milliseconds UTC); 0: they are not. */
  readonly defensiveUntilMs?: number
  /** When the certificate of the name was issued, which identifies it (milliseconds UTC); 0: there is none. */
  readonly certifiedAt?: number
  /** When it expires; 0: not known. */
  readonly certifiedUntil?: number
  /** Visitors are redirected to https. */
  readonly forceTls?: boolean
  /** The pending challenge while a certificate is ordered; undefined: the name wants none. */
  readonly challenge?: { readonly token: string; readonly answer: string } | null
  /** It is known to have changed, and could not be read again: the epochs may be higher by now. */
  readonly isOutdated?: boolean
}

/** Where the gateway finds routes. See `createRouteTable`. */
export interface Routes {
  /**
   * Returns the route of a normalized host name, without a promise if it is cached. Rejects when it is not cached and
   * the database is unreachable.
   */
  find(hostName: string): Route | undefined | Promise<Route | undefined>
  /** The same, but a known route is not read again because of its age. For the monitoring, which asks all sites. */
  peek?(hostName: string): Route | undefined | Promise<Route | undefined>
  /** Reports that the route's host is unreachable, because it may have moved. */
  suspect?(hostName: string): void
  /** Looks the route up again, whatever is known. Rejects when that is impossible. */
  lookAgain?(hostName: string): Promise<Route | undefined>
}
