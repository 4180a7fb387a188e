import { siteHeader } from '../../platform/http/client/proxy-protocol.ts'

/** How sites of this host reach sites of this Stead, themselves included. */
export interface HairpinRoute {
  /**
   * Returns the edge's listener for the public address of a site. Connections go there instead of where the name
   * resolves to. Returns undefined for all other addresses.
   */
  find(hostName: string, port: number): Promise<EdgeListener | undefined>
  /**
   * Marks a connection to the edge as a site's.
   * @param peer the connection's source address and port, as the edge sees it
   * @param siteDirectory the directory of that site
   * @returns a function to call when it is closed
   */
  opened(peer: string, siteDirectory: string): () => void
  /**
   * Returns the bytes that start a connection to the edge. From them the edge knows that a site made it, and trusts
   * nothing that it says about others.
   * @param looksAt the site that Stead itself checks through it
   */
  greeting(listener: EdgeListener, looksAt?: number): Buffer
  /** Returns the directory of the site that made a connection to the edge, or undefined for visitors. */
  directoryOf(peer: string): string | undefined
}

export interface EdgeListener {
  readonly host: string
  readonly port: number
  /** The scheme for requests of sites to this listener: https even if TLS ends before the edge. */
  readonly scheme?: 'http' | 'https'
}

/**
 * The port at which `prepend.php` reaches the site's own https address if TLS ends before the edge: in plain text,
 * which only sites of this host can do.
 */
export const OWN_HTTPS_PORT = 61_443

export interface HairpinRouteOptions {
  /** The edge's listeners, by the port in the addresses of sites. */
  readonly edges: ReadonlyMap<number, EdgeListener>
  /** The key with which the edge authenticates hosts. */
  readonly edgeKey: string
  /** Returns whether a site of this Stead has the host name, which is in lower case. */
  readonly isSite: (hostName: string) => Promise<boolean>
}

/**
 * Creates the route. It opens only what visitors can reach too: names lead to the edge, wherever their owners point
 * them.
 */
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
