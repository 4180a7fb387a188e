/** What the edge knows about one host name. */
export interface Route {
  /** Lower case, without port and trailing dot. */
  readonly hostName: string
  /** The name that the site has: `hostName`, or the wildcard that it falls under. Default: `hostName`. */
  readonly listedAs?: string
  readonly siteId: number
  readonly state: 'deploying' | 'cloning' | 'live' | 'disabled'
  /** The operator has suspended its account. */
  readonly isSuspended?: boolean
  /** It stays as it is: it could not be made. */
  readonly deployFailed?: boolean
  /** The host that keeps the site, and its `http://address:port`. */
  readonly hostId: number
  readonly upstream: string
  /** The primary domain, to which this other one leads; null: to none. */
  readonly redirectsTo: string | null
  readonly maintenance: boolean
  /** It is being worked on: nobody gets anything of it, not even its owner. */
  readonly isClosed?: boolean
  /** It is no site in production: search engines are asked to leave it out. */
  readonly isUnlisted?: boolean
  readonly edgeCache: boolean
  /** Raised by every purge of all pages; stored pages of lower epochs are dead. */
  readonly cacheEpoch: number
  readonly cdn: boolean
  /** The same for files. */
  readonly cdnEpoch: number
  /** Until then visitors are challenged (milliseconds UTC); 0: they are not. */
  readonly defensiveUntilMs?: number
  /** When the certificate of the name was issued, which tells it from the next (milliseconds UTC); 0: there is none. */
  readonly certifiedAt?: number
  /** When it ends; 0: not known. */
  readonly certifiedUntil?: number
  /** Visitors are sent to https. */
  readonly forceTls?: boolean
  /** What a certificate authority asks for while a certificate is ordered; undefined: the name wants none. */
  readonly challenge?: { readonly token: string; readonly answer: string } | null
  /** It is known to have changed, and could not be read again: the epochs may be higher by now. */
  readonly isOutdated?: boolean
}

/** Where the gateway finds routes; `createRouteTable` makes one. */
export interface Routes {
  /** The route of a normalised host name; without a promise when it is at hand. Rejects when it is unknown and cannot be looked up. */
  find(hostName: string): Route | undefined | Promise<Route | undefined>
  /** Says that the route's host cannot be reached: it may have moved. */
  suspect?(hostName: string): void
}
