import { siteHeader } from '../../platform/http/client/proxy-protocol.ts'

/** How sites of this host reach sites of this Stead, themselves among them. */
export interface HairpinRoute {
  /**
   * Where a connection is to go in place of what its name resolves to: to the edge, for the address of a site as its visitors know it.
   * Undefined for all others.
   */
  find(hostName: string, port: number): Promise<EdgeListener | undefined>
  /**
   * Notes a connection to the edge as a site's.
   * @param peer address and port that the edge sees it come from
   * @param siteDirectory whose it is
   * @returns called when it is closed
   */
  opened(peer: string, siteDirectory: string): () => void
  /**
   * What a connection to the edge begins with, by which the edge knows that a site has made it, and believes nothing that it says of others.
   * @param looksAt the site that Stead itself looks at through it
   */
  greeting(listener: EdgeListener, looksAt?: number): Buffer
  /** Site directory of the site that a connection to the edge comes from; undefined for visitors'. */
  directoryOf(peer: string): string | undefined
}

export interface EdgeListener {
  readonly host: string
  readonly port: number
  /** How a site is to be served that asks here: https also where TLS ends before the edge. */
  readonly scheme?: 'http' | 'https'
}

/**
 * The port by which `prepend.php` reaches the site's own https address where TLS ends before the edge: in plain text, as only a site of this
 * host can.
 */
export const OWN_HTTPS_PORT = 61_443

export interface HairpinRouteOptions {
  /** Where the edge listens, by the port that addresses of sites have for it. */
  readonly edges: ReadonlyMap<number, EdgeListener>
  /** What the edge knows hosts by. */
  readonly edgeKey: string
  /** Whether a site of this Stead has the host name, which is in lower case. */
  readonly isSite: (hostName: string) => Promise<boolean>
}

/** Nothing but what visitors reach too becomes reachable: names lead to the edge, wherever their owners have them point. */
export function createHairpinRoute({ edges, edgeKey, isSite }: HairpinRouteOptions): HairpinRoute {
  const siteDirectories = new Map<string, string>()
  return {
    async find(hostName, port) {
      const edge = edges.get(port)
      if (!edge) return undefined
      return (await isSite(hostName.toLowerCase().replace(/\.$/, ''))) ? edge : undefined
    },
    opened(peer, siteDirectory) {
      siteDirectories.set(peer, siteDirectory)
      return () => siteDirectories.delete(peer)
    },
    greeting: ({ scheme = 'http' }, looksAt) => siteHeader(edgeKey, scheme, looksAt),
    directoryOf: (peer) => siteDirectories.get(peer),
  }
}
